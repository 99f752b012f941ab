"""The published simulations of assemblies, round by round, for either simulator of the oracle.

`make(areas, stimuli, fibres)` makes the brain (`Sampled` or `Rows` with its numbers bound).  Every
round is plastic, as in the published program, unless the text says otherwise.

Source: `simulations.py` of github.com/dmitropolsky/assemblies, the program of Papadimitriou,
Vempala, Mitropolsky, Collins and Maass (2020), PNAS 117, 14464; names of functions are given.
"""

import copy

SA, SB = ("SA", "A"), ("SB", "B")
AA, BB, CC = ("A", "A"), ("B", "B"), ("C", "C")
AB, BA = ("A", "B"), ("B", "A")
AC, BC, CA, CB = ("A", "C"), ("B", "C"), ("C", "A"), ("C", "B")


def _rounds(brain, fibres, times, **how):
    for _ in range(times):
        brain.step(fibres, **how)


def overlap(one, other):
    """How many neurons two caps share."""
    return len(set(map(int, one)) & set(map(int, other)))


def project(make, n, k, rounds):
    """`project_sim`: the support of A after each round; A is silent in the first."""
    brain, support = make({"A": (n, k)}, {"SA": k}, [SA, AA]), []
    for _ in range(rounds):
        brain.step([SA, AA])
        support.append(brain.support("A"))
    return brain, support


def merge(make, n, k, rounds):
    """`merge_sim`: supports of A, B and C after A and B were merged into C for `rounds`."""
    areas = dict.fromkeys("ABC", (n, k))
    up = [SA, SB, AA, AC, BB, BC]
    brain = make(areas, {"SA": k, "SB": k}, [*up, CC, CA, CB])
    brain.step([SA])
    brain.step([SB])
    brain.step(up)
    _rounds(brain, [*up, CC, CA, CB], rounds)
    return [brain.support(a) for a in "ABC"]


def complete(make, n, k, rounds, share, again):
    """`pattern_com_alphas`: how much of A is back after `again` rounds from a part of it.

    Only `int(share k)` neurons of A, taken at random, fire in the first of these rounds; they are
    plastic too.
    """
    brain, _ = project(make, n, k, rounds)
    whole = brain.caps["A"]
    brain.caps["A"] = brain.rng.choice(whole, int(share * k), replace=False)
    _rounds(brain, [AA], again)
    return overlap(brain.caps["A"], whole)


def associate(make, n, k, together):
    """`association_grand_sim`: the overlap in C of what A and what B evoke there, each alone.

    10 rounds form A and B, 10 each project them to C, `together` project both at once.  Then, on
    two copies, the stimulus makes its area fire for one round and that area drives C for one.
    """
    areas = dict.fromkeys("ABC", (n, k))
    brain = make(areas, {"SA": k, "SB": k}, [SA, SB, AA, BB, AC, BC, CC])
    brain.step([SA, SB])
    _rounds(brain, [SA, SB, AA, BB], 9)
    for own in ([SA, AA, AC], [SB, BB, BC], [SA, SB, AA, BB, AC, BC]):
        brain.step(own)
        _rounds(brain, [*own, CC], together - 1 if len(own) == 6 else 9)
    caps = []
    for stimulus, fibre in ((SA, AC), (SB, BC)):
        alone = copy.deepcopy(brain)
        alone.step([stimulus])
        alone.step([fibre])
        caps.append(alone.caps["C"])
    return overlap(*caps)


def reciprocate(make, n, k):
    """`fixed_assembly_recip_proj`: how much of A comes back from B, by round.

    A forms in 21 rounds and is fixed; B forms in 21, from A alone in the first, then from A and
    itself while it drives A.  A is released; B alone drives it for a round, then B and A for 20.
    """
    brain = make(dict.fromkeys("AB", (n, k)), {"SA": k}, [SA, AA, AB, BA, BB])
    brain.step([SA])
    _rounds(brain, [SA, AA], 20)
    whole, back = brain.caps["A"], []
    brain.step([AB], fixed=["A"])
    _rounds(brain, [AB, BA, BB], 20, fixed=["A"])
    for fibres in [[BA]] + [[BA, AA]] * 20:
        brain.step(fibres)
        back.append(overlap(brain.caps["A"], whole))
    return back


def density(make, n, k, rounds):
    """`density`: the share of the k^2 pairs of an assembly, itself included, that have an edge."""
    brain, _ = project(make, n, k, rounds + 1)
    cap = brain.caps["A"]
    at = brain.place["A"][cap] if hasattr(brain, "place") else cap
    return float((brain.w[AA][at][:, at] > 0).mean())
