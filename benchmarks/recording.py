"""Times recording: COBA with nothing, with spikes, and with voltages recorded."""

import json
import statistics

import jaxneuro as jn

from ._balanced import coba
from ._run import DT, add_network_options, versions

__all__ = ["add_options", "run"]

add_options = add_network_options


def run(options) -> None:
    """One JSON line: median wall seconds of each, taken in turn."""
    net = jn.build(coba(options.neurons), key=options.seed, dt=DT)
    cases = {
        "nothing": jn.Record(spikes=False),
        "spikes": jn.Record(),
        "statistics": jn.Record(spikes=False, statistics=...),
        "spikes and rates": jn.Record(rates=True),
        "spikes and v of 10 neurons": jn.Record(
            variables={"E0": "v"}, neurons={"E0": list(range(10))}
        ),
        "spikes and v of all, every 10th step": jn.Record(variables={"E0": "v"}, interval=1.0),
        "spikes, mean v and LFP, every 10th step": jn.Record(
            means={"E0": "v"}, lfp=("E0",), interval=1.0
        ),
    }
    seconds = {name: [] for name in cases}
    for _ in range(options.repeats + 1):
        for name, record in cases.items():
            result = jn.simulate(net, 1e3 * options.seconds, key=1, record=record, progress=False)
            seconds[name].append(result.run_s)
    line = {
        "bench": "recording",
        "neurons": net.n_neurons,
        "bio_s": options.seconds,
        "wall_s": {name: round(statistics.median(s[1:]), 4) for name, s in seconds.items()},
        "threads": options.threads,
        "versions": versions(),
    }
    print(json.dumps(line), flush=True)
