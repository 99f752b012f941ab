"""What the tests against NEST's synapses and gap junctions share: runs there and here, errors."""

import json
import subprocess
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import jaxneuro as jn
from benchmarks._environments import environment

SCRIPT = Path(__file__).with_name("nest_synapse_runs.py")
EVERY, DELAY = 0.1, 1.0  # ms, of samples; of spikes


def in_nest(cases: list[dict]) -> list[dict]:
    """What NEST answers, arrays with time first."""
    given = [{"every": EVERY, "delay": DELAY, **case} for case in cases]
    done = subprocess.run(
        [environment("nest"), SCRIPT], input=json.dumps(given), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    ragged = ("spikes", "sources")
    return [
        {name: x if name in ragged else np.array(x).T for name, x in answer.items()}
        for answer in json.loads(done.stdout.splitlines()[-1])
    ]


def simulate(parts: tuple, ms: float, dt: float, variables: dict, every: float = EVERY):
    """A network of (populations, projections, stimuli[, couplings]) in float64."""
    couplings = parts[3] if len(parts) > 3 else []
    net = jn.build(jn.Description(*parts[:3], couplings=couplings), 0, dt, jnp.float64)
    record = jn.Record(variables=variables, interval=every)
    return jn.simulate(net, ms, record=record, progress=False)


def away(name: str, dt: float, ours, theirs) -> np.ndarray:
    """The greatest difference of each neuron; prints it."""
    off = np.abs(np.asarray(ours) - theirs).max(axis=0)
    print(f"{name} at {dt:g} ms: at most {', '.join(f'{x:.2e}' for x in off)} away")
    return off


def fall(errors: list, dts: tuple, order: float) -> bool:
    """Whether errors fall at least like dt to a power, from each dt to the next."""
    ratios = np.array(errors[:-1]) / np.array(errors[1:])
    steps = np.array(dts[:-1]) / np.array(dts[1:])
    return bool(np.all(ratios >= (steps**order).reshape(-1, *[1] * (ratios.ndim - 1))))
