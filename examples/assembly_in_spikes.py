# %% [markdown]
# An assembly (Papadimitriou et al. 2020, doi:10.1073/pnas.2001893117) in a network that spikes: a
# stimulus sends volleys to 5,000 excitatory neurons, inhibition lets about 200 of them fire, STDP
# binds these, and half of the stimulus or of the assembly recalls the rest. Numbers were chosen on
# seeds 1 and 2. `assembly_compared.py` sets the calculus beside it. Run it:
# `python examples/assembly_in_spikes.py [--neurons 5000] [--volleys 30] [--seed 11]`

# %%
import argparse
from functools import reduce
from itertools import pairwise

import jax
import jax.numpy as jnp
import matplotlib
import numpy as np

import jaxneuro as jn

jn.configure_cpu()
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

DT, VOLLEY, LEARNED = 0.1, 1000, ("S->E", "E->E")  # ms; steps from one volley to the next
BETA, CEILING = 0.4, {"S": 2.5, "E": 12.0}  # what a volley adds, the largest: in start weights


# %% The network. Of k neurons that fire, each neuron hears 20 on average, whatever n and k are
def description(n: int, k: int) -> jn.Description:
    cell = jn.neurons.LIF(20.0, 200.0, e_l=-60.0, v_th=-50.0, v_reset=-60.0, t_ref=5.0)
    fast = jn.neurons.LIF(10.0, 200.0, e_l=-65.0, v_th=-50.0, v_reset=-65.0, t_ref=2.0)
    sparse, quick = jn.connectivity.FixedProbability(20 / k), jn.synapses.Exponential(1.0)
    inhibits = jn.synapses.ExponentialConductance(tau_syn=5.0, e_rev=-80.0)
    wires = [jn.Projection("E", "I", sparse, weight=300.0, delay=0.5, synapse=quick)]
    wires.append(jn.Projection("I", "E", sparse, weight=4.0, delay=0.5, synapse=inhibits))
    for source, w in (("S", 21.0), ("E", 14.0)):  # pA
        size = {"a_plus": BETA * w, "a_minus": 0.3 * BETA * w, "w_max": CEILING[source] * w}
        stdp = jn.plasticity.TraceSTDP(**size, tau_plus=10.0, tau_minus=10.0)
        how = {"delay": 1.0, "synapse": jn.synapses.Exponential(5.0), "plasticity": stdp}
        wires.append(jn.Projection(source, "E", sparse, weight=w, **how))
    cells = [jn.Population(*x) for x in (("S", k, cell), ("E", n, cell), ("I", n // 10, fast))]
    noise = jn.Stimulation("E", jn.stimuli.OrnsteinUhlenbeck(0.0, 15.0, 5.0))
    return jn.Description(cells, wires, [noise])


# %% A volley: neurons of S or E are made to fire. When each of E spiked first (ms), or inf
@jax.jit
def step(net: jn.Network, state, kicks):
    now = jnp.arange(VOLLEY)[:, None]
    inputs = {name: jnp.where(now == at, 120_000.0, 0.0) for name, at in kicks.items()}  # pA
    state, recorded = jn.scan(net, state, VOLLEY, inputs)
    on = recorded.spikes.dense("E")  # type: ignore
    return state, on.any(0), on.argmax(0)


def volley(net: jn.Network, state, rng: np.random.Generator, **who):
    kicks = {name: np.full(net.populations[name], VOLLEY) for name in "SE"}
    for name, chosen in who.items():
        kicks[name][chosen] = np.maximum(rng.normal(50.0, 25.0, len(chosen)), 0).astype(int)
    state, on, first = step(net, state, kicks)
    return state, np.where(on, np.asarray(first) * DT, np.inf)


# %% Volleys of S, with plasticity or without; then, without, each cue five times. Spike times
# (volleys + 2, n); the half of the assembly that is a cue; overlaps (volleys - 1,); for both cues
# how much of the rest fired, and how much of all that the cue did not make fire: that by chance
def spiking(net: jn.Network, volleys: int, seed: int, plastic: bool = True):
    k, rng, times, recall = net.populations["S"], np.random.default_rng(seed), [], []
    state = reduce(net.freeze, () if plastic else LEARNED, net.init(seed))
    for _ in range(volleys):
        state, first = volley(net, state, rng, S=np.arange(k))
        times.append(first)
    state = reduce(net.freeze, LEARNED, state)
    on = np.isfinite(times)
    overlaps = [2 * (a & b).sum() / max(a.sum() + b.sum(), 1) for a, b in pairwise(on)]
    half, rest = np.array_split(rng.permutation(assembly := np.flatnonzero(on[-1])), 2)
    for cue, wanted in (({"S": np.arange(k // 2)}, assembly), ({"E": half}, rest)):
        shown = [volley(net, state, rng, **cue)[1] for _ in range(5)]
        fired = np.isfinite(shown)
        by_chance = np.delete(fired, cue.get("E", []), axis=1).mean()
        recall.append((fired[:, wanted].sum() / max(5 * wanted.size, 1), by_chance))
        times.append(shown[0])
    return np.array(times), half, np.array(overlaps), np.array(recall)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name, value in (("neurons", 5000), ("volleys", 30), ("seed", 11)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--out", default="assembly.png", help="the figure")
    args = parser.parse_args()
    net = jn.build(description(args.neurons, args.neurons // 25), key=args.seed, dt=DT)
    for plastic, name in ((True, "learning"), (False, "frozen")):
        *_, overlaps, recall = spiking(net, args.volleys, args.seed, plastic)
        print(f"{name}: overlap {overlaps[-1]:.2f}, recalled {recall[:, 0].round(2)}")
        plt.plot(overlaps, "-" if plastic else "--", color="black")
    plt.ylabel("shared with the volley before")
    plt.savefig(args.out, dpi=200)
    print(f"wrote {args.out}")
