"""Networks over several processes: the same bits, and an error when one of them dies."""

import time

import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro import parallel

from .networks import LIF, RULE
from .processes import finished, start

# Every process runs this. The last one dies in its second run.
PROGRAM = """
import os, signal, sys, time
import numpy as np
import jaxneuro as jn
from jaxneuro import parallel
from jaxneuro._run.simulate import _Run

address, processes, process, out = sys.argv[1:]
process = int(process)
mesh = parallel.connect(address, int(processes), process, lost_after=10, wait=60)
from tests.parallel.test_processes import description, recorded, run

try:
    jn.build(description(), key=process, dt=0.1, mesh=mesh)
except jn.InvalidValueError as error:
    assert error.field == "network"
    print("refused", flush=True)
net = jn.build(description(), key=1, dt=0.1, mesh=mesh)
result = run(net)
connections = net.connections("E->E")
weights = net.weights(result.state, "E->E")
if process == 0:
    np.savez(out, pre=connections.pre, post=connections.post, now=weights, **recorded(result))
print("done", flush=True)

collect = _Run._collect
def collect_and_die(self, progress):
    collect(self, progress)
    if process == 1 and self.now.finished.chunks == 3:
        print("dies at", time.time(), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
_Run._collect = collect_and_die
try:
    jn.simulate(net, 60_000.0, key=3)
except jn.LostProcessError as error:
    print("lost after", error.result.n_steps, "steps at", time.time(), flush=True)
"""


def description():
    plastic = jn.plasticity.PairSTDP(w_max=12.0)
    excite = jn.synapses.ExponentialConductance(5.0)
    v = {"v": jn.Uniform(-60.0, -50.0)}
    return jn.Description(
        [jn.Population("E", 93, LIF, initial=v), jn.Population("I", 30, LIF, initial=v)],
        [
            jn.Projection(
                *("E", "E", RULE), weight=8.0, delay=1.5, synapse=excite, plasticity=plastic
            ),
            jn.Projection("E", "I", RULE, weight=8.0, delay=1.5, synapse=excite),
        ],
        [
            jn.Stimulation("E", jn.stimuli.Poisson(900.0), weight=6.0, synapse=excite),
            jn.Stimulation("I", jn.stimuli.Current(300.0)),
        ],
        couplings=[jn.Coupling("I", "I", RULE, weight=0.3)],
    )


def run(net):
    record = jn.Record(variables={"E": "v", "I": "v"}, interval=5.0)
    return jn.simulate(net, 60.0, key=3, record=record)


def recorded(result):
    """All that a run recorded, as arrays by name."""
    found = {}
    for name in ("E", "I"):
        found[f"{name} times"], found[f"{name} neurons"] = result.events(name)
        found[f"{name} v"] = result.traces[name]["v"]
    return found


@pytest.mark.thorough
def test_two_processes_give_the_bits_of_one_and_end_when_one_dies(tmp_path):
    """Weights, voltages and spikes; then process 1 is killed in the middle of a run.

    The other has what was recorded until then at once, and ends when the dead one counts as lost,
    after 10 s. (The bounds leave time for a busy machine.)
    """
    started = start(PROGRAM, 2, [tmp_path / "found.npz"])
    net = jn.build(description(), key=1, dt=0.1)
    result = run(net)
    first, second = finished(started)
    ended = time.time()
    assert "done" in second, second
    assert "refused" in first
    assert "refused" in second
    assert "lost after" in first, first
    died = float(second.split("dies at")[1].split()[0])
    steps, _, _, noticed = first.split("lost after")[1].split()[:4]
    assert 0 < int(steps) < 600_000
    assert float(noticed) - died < 30
    assert ended - died < 60
    found = np.load(tmp_path / "found.npz")
    expected = recorded(result)
    assert len(expected["E times"]) > 50
    assert len(expected["I times"]) > 20
    for name, x in expected.items():
        np.testing.assert_array_equal(found[name], x)
    np.testing.assert_array_equal(found["now"], net.weights(result.state, "E->E"))
    assert len(np.unique(found["now"])) > 10
    c = net.connections("E->E")
    np.testing.assert_array_equal(found["pre"], c.pre)
    np.testing.assert_array_equal(found["post"], c.post)


def test_bad_input():
    for given, what in (
        ({"processes": 2}, "belong together"),
        ({"coordinator": "127.0.0.1:1", "processes": 2, "process": 2}, "connect: process must be"),
        ({"coordinator": "127.0.0.1:1", "processes": 0, "process": 0}, "processes"),
        ({"lost_after": 0.0}, "lost_after"),
        ({"wait": -1.0}, "wait"),
    ):
        with pytest.raises(ValueError, match=what):
            parallel.connect(**given)
