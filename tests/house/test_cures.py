"""The words of errors that name a cure, each pinned once: an error says what to write instead."""

import functools
import pickle
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro import assemblies as ac
from jaxneuro._numerics.grid import steps_on_grid
from jaxneuro.io import parse_description

C, N, P, S, ST = jn.connectivity, jn.neurons, jn.plasticity, jn.synapses, jn.stimuli
CELLS = jn.Population("E", 4, N.LIF())
ALL = C.AllToAll()
WIRE = {"weight": 1.0, "delay": 1.0, "synapse": S.Delta()}


def project(source="E", target="E", rule=ALL, **values):
    return jn.Projection(source, target, rule, **WIRE | values)


def couple(weight=1.0, **values):
    return jn.Coupling("E", "E", C.FixedProbability(0.5), weight=weight, **values)


def build(*projections, cells=CELLS, dtype=np.float32, **parts):
    return jn.build(jn.Description([cells], projections, **parts), 1, 0.1, dtype=dtype)


def wired(**values):
    """Build a network of one projection."""
    return build(project(**values))


def scaled(v):
    """Build a network of one neuron model whose step returns `v(state)` as the new voltage."""

    class State(NamedTuple):
        v: jax.Array

    class Own(jn.Neuron):
        def init(self, n):
            return State(jnp.zeros(n))

        def step(self, state, drive, dt):
            return State(v(state.v)), state.v > 1

    return build(cells=jn.Population("E", 4, Own()))


def receptor(step=None, init=None):
    """Build a network of one synapse model with these methods."""
    methods = {
        "init": init or (lambda self, n: jnp.zeros(n)),
        "step": step or (lambda self, state, *_: (state, jn.Drive(current=state))),
    }
    return wired(synapse=type("Own", (jn.Synapse,), methods)())


def learn(on_pre):
    """Build a network of one plasticity rule with this method."""
    return wired(plasticity=type("Own", (jn.Plasticity,), {"on_pre": on_pre})())


NET = wired()
RUN = functools.cache(lambda: jn.simulate(NET, 0.3, record=jn.Record(variables={"E": "v"})))
BRAIN = ac.Brain(
    [ac.Area("A", 50, 5), ac.Area("B", 60, 6)], [ac.Stimulus("S", 9)], [ac.Fibre("S", "A")], p=0.1
)
FILE = """{"format": "jaxneuro network", "version": 1,
  "populations": [{"name": "E", "n": 3, "model": {"type": "LIF",
    "tau": 20.0}}]}"""

# Each row is what somebody wrote, and the words that say what to write instead.
CURES = {
    # names
    "a misspelled parameter": (lambda: NET.set("E", tau_mem=9.0), "did you mean 'tau_m'?"),
    "a misspelled projection": (lambda: NET.set("E>E", weight=1.0), "did you mean 'E->E'?"),
    "an unknown population": (
        lambda: build(project("X")),
        "projection 'X->E': there is no population named 'X'",
        "known ones: 'E'",
    ),
    "a population in sizes": (lambda: NET.populations["X"], "The known ones: 'E'"),
    "a start value that is no state": (
        lambda: build(cells=jn.Population("E", 4, N.LIF(), {"u": 1.0})),
        "known ones: 'v', 'spikes', 'refractory'",
    ),
    "a state variable to set": (lambda: NET.set("E", v=-60.0), "known ones: 'tau_m', 'c_m'"),
    "one name for two projections": (
        lambda: build(project(), project()),
        "give one, name='E->E 2'",
    ),
    "a population for its name": (lambda: project(CELLS), "give its name, 'E'"),
    "a population for a name of a result": (lambda: RUN().events(CELLS), "give its name, 'E'"),
    "several names": (lambda: jn.Part(["E", "I"]), "give one name at a time"),
    "a coupling's variables": (
        lambda: jn.simulate(
            build(couplings=[couple(symmetric=False, name="gap")]),
            0.1,
            record=jn.Record(variables={"gap": ...}),
        ),
        "'gap' has no state variable that is a number; leave it out",
    ),
    # models
    "a class for a model": (lambda: jn.Population("E", 4, N.LIF), "a class was given: call it"),
    "several inputs of a receptor": (
        lambda: couple(release=jn.release.PulsedTransmitter(), synapse=S.DopaGluGABA()),
        "jn.synapses.Into(DopaGluGABA(...), 'glutamate')",
    ),
    "pairs twice": (
        lambda: build(
            couplings=[jn.Coupling("E", "E", C.Explicit([0, 0, 1], [1, 1, 0]), weight=1.0)]
        ),
        "with the sum of its weights, or symmetric=False",
    ),
    "a part that is not sorted": (lambda: jn.Part("E", [1, 1, 2]), "give np.sort(indices)"),
    "a description for a network": (
        lambda: jn.simulate(jn.Description([CELLS]), 1.0),
        "build it first: net = jn.build",
    ),
    # units
    "a duration in s": (lambda: jn.simulate(NET, 0.05), "did you mean 50 (s -> ms)?"),
    "drawn delays in s": (
        lambda: wired(delay=jn.Uniform(0.001, 0.002)),
        "from 0.001 to 0.002 ms; delays are in ms, not in s",
    ),
    "computed delays in s": (
        lambda: wired(delay=lambda i, j: 0.001 + 0 * i),
        "at most 0.001 ms; delays are in ms, not in s",
    ),
    "a long delay": (lambda: wired(delay=7000.0), "at most 65535 steps, 6553.5 ms"),
    "a median of weights": (
        lambda: project(weight=jn.LogNormal(8.0, 0.1)),
        "a median of 8 mV give mu=2.079",
    ),
    "a speed in m/s": (
        lambda: build(
            project(delay=jn.space.ConductionDelay(speed=0.0003)),
            cells=jn.Population("E", 4, N.LIF(), positions=jn.space.Grid((2, 2), spacing=20.0)),
        ),
        "in um/ms: 0.3 m/s is 300 um/ms",
    ),
    # bounds of laws
    "delays with a tail": (
        lambda: wired(delay=jn.Normal(1.5, 0.75)),
        "reaches down to -3.25",
        "bound it, low=0.1",
    ),
    "delays with a tail above 0": (
        lambda: wired(delay=jn.LogNormal(-3.0, 0.5)),
        "reaches down to 0.002",
        "bound it, low=0.1",
    ),
    "delays without an end": (
        lambda: wired(delay=jn.LogNormal(5.0, 3.0, low=1.0)),
        "bound the distribution (high=...)",
    ),
    "weights of both signs": (
        lambda: wired(weight=jn.Normal(0.0, 1.0), synapse=S.AMPA()),
        "bound the distribution (low=0.0)",
    ),
    "weights below 0 of a conductance": (
        lambda: wired(weight=-1.0, synapse=S.AMPA()),
        "an inhibitory AMPA has a low e_rev",
    ),
    "weights of an inhibitory port": (
        lambda: build(
            project(weight=jn.Uniform(-1.0, 1.0), synapse=S.Direct("in")),
            cells=jn.Population("E", 4, N.IafPscExp()),
        ),
        "bound it (high=0.0)",
    ),
    "a rule with weights below 0": (
        lambda: wired(synapse=S.AMPA(), plasticity=P.TraceSTDP(w_min=-5.0)),
        "(w_min=0.0)",
    ),
    # jit, vmap and grad
    "build in jit": (
        lambda: jax.jit(lambda dt: jn.build(jn.Description([CELLS]), 0, dt))(0.1),
        "outside of jit, vmap and grad",
    ),
    "a weight in jit": (
        lambda: jax.jit(lambda w: project(weight=w))(1.0),
        "got JitTracer",
        "vary it inside by net.set",
    ),
    "simulate in grad": (
        lambda: jax.grad(lambda x: jn.simulate(CELLS.model, 1.0, dt=0.1, current=x).run_s)(1.0),
        "cannot be traced; inside jit, vmap and grad use jn.scan",
    ),
    "events in jit": (
        lambda: jax.eval_shape(lambda key: jn.scan(NET, NET.init(key), 5)[1].spikes.events("E"), 1),
        "outside of jax.jit; inside, ",
        "Record(rates=True)",
    ),
    # arguments of simulate and build
    "float64 of 32 bits": (
        lambda: build(dtype=np.float64),
        "call jax.config.update('jax_enable_x64', True) first",
    ),
    "another time step": (
        lambda: jn.simulate(NET, 1.0, dt=0.05),
        "dt is 0.1: for another, jn.build(description, key, dt=0.05)",
    ),
    "a bare neuron without a time step": (
        lambda: jn.simulate(CELLS.model, 1.0),
        "a bare neuron needs a time step, dt=",
    ),
    "no duration": (
        lambda: jn.simulate(CELLS.model, dt=0.1, current=[1, 2]),
        "only a current over time, (n_steps, n), says how long",
    ),
    "a current of a network": (
        lambda: jn.simulate(NET, 1.0, current=1.0),
        "for a current: jn.Stimulation, or inputs=",
    ),
    "a current twice": (
        lambda: jn.simulate(CELLS.model, 0.2, dt=0.1, current=1.0, inputs={"neurons": [1, 2]}),
        "once, as current= or inputs=",
    ),
    "a key and a state": (
        lambda: jn.simulate(NET, 1.0, key=0, state=NET.init(0)),
        "key= starts a new run and state= continues",
        "give one",
    ),
    "more steps than are counted": (
        lambda: jn.simulate(NET, 1.1, state=NET.init(0)._replace(step=jnp.int32(2**31 - 11))),
        "start anew with net.init",
    ),
    "inputs that are turned": (
        lambda: jn.simulate(NET, 0.6, inputs={"E": np.ones((4, 6))}),
        "The time steps come first: transpose it",
    ),
    "constant inputs": (
        lambda: jn.simulate(NET, 9.0, inputs={"E": np.ones(4)}),
        "A constant current per neuron is a jn.stimuli.Current",
    ),
    "as many inputs as neurons and steps": (
        lambda: jn.simulate(NET, 0.4, inputs={"E": range(4)}),
        "4 numbers for 4 neurons and 4 time steps",
        "np.tile(x[:, None], 4) for one per step",
    ),
    "a function of a record that NumPy computes": (
        lambda: jn.simulate(NET, 1.0, record=jn.Record(function=lambda s, o: float(s.step))),
        "jax.numpy",
        "got Concretization",
    ),
    "a step that is too long for a method": (
        lambda: jn.simulate(N.HodgkinHuxley(), 20.0, dt=0.1, current=10.0),
        "HodgkinHuxley moves by RK4, which may need",
    ),
    # what was not recorded
    "traces of a population": (
        lambda: RUN().traces["I"],
        "known ones: 'E'",
        "jn.Record(variables={'I': ...})",
    ),
    "traces of a variable": (
        lambda: RUN().traces["E"]["w"],
        "known ones: 'v'",
        "variables={'E': ('v', 'w')}",
    ),
    "traces by variable alone": (lambda: RUN().traces["v"], "'v' is of 'E': ['E']['v']"),
    "traces after pickling": (
        lambda: pickle.loads(pickle.dumps(RUN().traces))["E"]["w"],
        "known ones: 'v'",
    ),
    "counts": (lambda: RUN().counts["E"], "jn.Record(rates=True)"),
    "weights": (lambda: RUN().weights["E->E"], "weights={'E->E': ...}"),
    "histograms": (
        lambda: jn.plot.weight_history(RUN(), "E->E"),
        "Record(weight_histograms={'E->E': 50})",
    ),
    "traces to draw": (lambda: jn.plot.traces(RUN(), "I"), "Record(variables={'I': ...})"),
    "traces as a table": (
        lambda: RUN().traces_to_pandas("I"),
        "Record(variables={'I': ...})",
    ),
    "traces of a scan": (
        lambda: jn.scan(NET, NET.init(0), 3)[1].traces["E"],
        "variables={'E': ...}",
    ),
    "counts of a scan": (lambda: jn.scan(NET, NET.init(0), 3)[1].counts["E"], "rates="),
    # models and rules of users
    "an if": (
        lambda: scaled(lambda v: v if v > 1 else -v),
        "jnp.where(condition, a, b) instead of if",
    ),
    "NumPy in a step": (
        lambda: scaled(lambda v: np.exp(np.asarray(v))),
        "functions of jnp instead of those of numpy",
    ),
    "a drive of nothing": (
        lambda: receptor(lambda self, state, *_: (state, jn.Drive())),
        "jn.Drive(current=...) or jn.Drive(conductance=...)",
    ),
    "a list as a state": (
        lambda: receptor(init=lambda self, n: [0.0] * n),
        "arrays, such as jnp.zeros(n)",
    ),
    "a weight that is returned bare": (
        lambda: learn(lambda self, s, *_: s.weight),
        "a dictionary of changes, of weight, {'weight': ...}",
    ),
    "a sum over all synapses": (
        lambda: learn(lambda self, s, *_: {"weight": s.weight / jnp.sum(s.weight)}),
        "a sum over all belongs into `factors`",
    ),
    "a draw in a rule": (
        lambda: learn(lambda self, s, *_: {"weight": s.weight + np.random.random()}),
        "numbers that stay are drawn outside of it",
    ),
    "rates per synapse": (
        lambda: wired(weight=0.5, plasticity=P.PairSTDP(rate=np.ones(16), w_max=1.0)),
        "a population or a projection for each value",
    ),
    # assemblies
    "a fibre without p": (
        lambda: ac.Brain([ac.Area("A", 9, 3)], [], [ac.Fibre("A", "A")]),
        "by Fibre(..., p=0.01) or by Brain(..., p=0.01)",
    ),
    "a fibre that is missing": (
        lambda: ac.project(BRAIN, BRAIN.init(0), "A", "A", 3),
        "the brain needs one, fibres=[..., ac.Fibre('A', 'A')]",
    ),
    "the pair that a run returns": (
        lambda: BRAIN.cap((BRAIN.init(0), 0), "A"),
        "ac.run returns (state, seen)",
    ),
    "an area without homeostasis": (
        lambda: BRAIN.balance(BRAIN.init(0), "A"),
        "Area(..., homeostasis=True)",
    ),
    "a schedule without pairs": (
        lambda: ac.schedule(BRAIN, "S->A", 5),
        'such as schedule(brain, (["S->A"], 5))',
    ),
    # files
    "a misspelled key of a file": (
        lambda: parse_description(FILE),
        "text, line 3: there is no key of LIF named 'tau'",
        "did you mean 'tau_m'?",
    ),
    "a file that is absent": (
        lambda: jn.Result.load("nope.npz"),
        "nope.npz: there is no such file",
    ),
    "a folder that is absent": (
        lambda: RUN().save("absent/run.npz"),
        "there is no folder",
        "absent; make it first",
    ),
}


@pytest.mark.parametrize("case", CURES)
def test_cure(case):
    make, *words = CURES[case]
    with pytest.raises((ValueError, FileNotFoundError, jn.NonFiniteError)) as caught:
        make()
    for text in words:
        assert text in str(caught.value)
    assert "\n" not in str(caught.value)


def test_options_have_their_own_unit():
    """An option of the command line in seconds gets no guess at its unit."""
    with pytest.raises(ValueError, match="whole number of time steps") as error:
        steps_on_grid("--seconds, in ms,", 0.05, 0.1)
    assert "did you mean" not in str(error.value)
