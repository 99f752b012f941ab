"""Small random networks equal the oracle, spike for spike."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.surrogates import FastSigmoid
from tests.network.networks import (
    LIF,
    RECEPTORS,
    SIZES,
    description,
    events,
    one_number,
    oracle_events,
    projection,
    random_connections,
    start,
)

STEPS = 400


def draw(seed, longest=9):
    """Eight projections over all receptors, some with one weight or one delay."""
    rng = np.random.default_rng(seed)
    kinds = list(RECEPTORS) * 2
    out = [random_connections(rng, SIZES, k, kind, longest) for k, kind in enumerate(kinds)]
    out[1] = one_number(out[1], "weight", 2.5)
    out[2] = one_number(out[2], "delay_steps", 4)
    out[3] = one_number(one_number(out[3], "weight", 1.5), "delay_steps", 1)
    return out


@pytest.mark.slow(but=["0", "1"])
@pytest.mark.parametrize("seed", range(5))
def test_spike_for_spike(seed, x64):
    connections = draw(seed)
    expected = oracle_events(connections, STEPS)
    made = description(projections=[projection(c) for c in connections])
    net = jn.build(made, 0, 0.1, jnp.float64)
    assert events(net, STEPS) == expected
    assert sum(map(len, expected.values())) > 100
    silent = oracle_events([], STEPS)
    assert silent != expected  # the connections matter


@pytest.mark.slow
def test_delays_beyond_a_byte(x64):
    connections = draw(7, longest=300)
    net = jn.build(
        description(projections=[projection(c) for c in connections]), 0, 0.1, jnp.float64
    )
    assert events(net, 700) == oracle_events(connections, 700)


@pytest.mark.slow
def test_populations_in_groups_of_their_own(x64):
    """A surrogate puts a population in another group and releases floats: same spikes."""
    connections = draw(3)
    models = {"B": jn.neurons.LIF(**LIF, surrogate=FastSigmoid())}
    made = description(projections=[projection(c) for c in connections], models=models)
    net = jn.build(made, 0, 0.1, jnp.float64)
    assert len(net.groups) == 2
    assert events(net, STEPS) == oracle_events(connections, STEPS)


@pytest.mark.slow
def test_reference_instead_of_native(x64, monkeypatch):
    from jaxneuro._kernels import call, deliver

    monkeypatch.setattr(deliver, "native_available", lambda: False)
    monkeypatch.setattr(call, "native_available", lambda: False)
    connections = draw(4)
    made = description(projections=[projection(c) for c in connections])
    net = jn.build(made, 0, 0.1, jnp.float64)
    assert events(net, STEPS) == oracle_events(connections, STEPS)


@pytest.mark.slow
def test_float32_up_to_disputes():
    connections = draw(1)
    expected = oracle_events(connections, STEPS)
    net = jn.build(description(projections=[projection(c) for c in connections]), 0, 0.1)
    for name, spikes in events(net, STEPS).items():
        assert [e for e in spikes if e[0] < 100] == [e for e in expected[name] if e[0] < 100]
        assert abs(len(spikes) - len(expected[name])) <= 0.05 * len(expected[name]) + 2


@pytest.mark.slow(but=["2"])
@pytest.mark.parametrize("parts", [2, 20, 100])
def test_the_same_neurons_as_many_populations(parts, x64):
    """2, 20 and 100 populations of the same neurons and connections: the same spikes."""
    n, rng = 200, np.random.default_rng(11)
    whole = random_connections(rng, {"A": n}, 0, "fast", 5)
    chosen = slice(0, 3000)
    whole = {**whole, **{k: whole[k][chosen] for k in ("pre", "post", "weight", "delay_steps")}}
    expected = oracle_events([whole], 300, {"A": n}, {"A": 300.0})["A"]
    size = n // parts
    sizes = {f"A{k:03d}": size for k in range(parts)}
    split, currents = [], dict.fromkeys(sizes, 300.0)
    for a, source in enumerate(sizes):
        for b, target in enumerate(sizes):
            mine = (whole["pre"] // size == a) & (whole["post"] // size == b)
            c = {k: whole[k][mine] for k in ("pre", "post", "weight", "delay_steps")}
            c["pre"], c["post"] = c["pre"] - a * size, c["post"] - b * size
            if mine.any():
                c.update(name=f"{a}-{b}", source=source, target=target, receptor="fast")
                split.append(projection({**c, "gain": whole["gain"]}))
    made = description(sizes=sizes, currents=currents, projections=split)
    v0 = start({"A": n})["A"].reshape(parts, size)
    populations = [dataclasses.replace(p, initial={"v": v}) for p, v in zip(made.populations, v0)]
    made = dataclasses.replace(made, populations=populations)
    net = jn.build(made, 0, 0.1, jnp.float64)
    assert len(net.groups) == len(net.pathways) == 1
    got = sorted(
        (step, i + k * size)
        for k, spikes in enumerate(events(net, 300).values())
        for step, i in spikes
    )
    assert got == expected
    assert len(got) > 300
