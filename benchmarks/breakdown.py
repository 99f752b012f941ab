"""How the time of a step divides into neurons and receptors, delivery and recording."""

import json
import statistics

import jaxneuro as jn

from . import _balanced
from ._run import DT, add_network_options, versions

__all__ = ["add_options", "run"]

add_options = add_network_options


def run(options) -> None:
    """One JSON line per network: microseconds per step of each part, runs taken in turn."""
    for name in ("coba", "cuba"):
        describe = getattr(_balanced, name)
        nets = {
            "neurons": jn.build(describe(options.neurons, inputs=0), key=1, dt=DT),
            "network": jn.build(describe(options.neurons), key=1, dt=DT),
        }
        cases = {
            "neurons": (nets["neurons"], jn.Record(spikes=False)),
            "silent": (nets["network"], jn.Record(spikes=False)),
            "all": (nets["network"], jn.Record()),
        }
        micros = {case: [] for case in cases}
        for _ in range(options.repeats + 1):
            for case, (net, record) in cases.items():
                result = jn.simulate(
                    net, 1e3 * options.seconds, key=1, record=record, progress=False
                )
                micros[case].append(result.run_s * 1e6 / result.n_steps)
        median = {case: statistics.median(x[1:]) for case, x in micros.items()}
        line = {
            "bench": "breakdown",
            "network": name,
            "neurons": options.neurons,
            "us_per_step": {
                "neurons and receptors": round(median["neurons"], 2),
                "delivery": round(median["silent"] - median["neurons"], 2),
                "recording": round(median["all"] - median["silent"], 2),
                "all": round(median["all"], 2),
            },
            "threads": options.threads,
            "versions": versions(),
        }
        print(json.dumps(line), flush=True)
