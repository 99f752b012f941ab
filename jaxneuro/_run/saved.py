"""Runs in folders: which run a folder holds, and how the loop of `simulate` writes it."""

import json
import logging
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jaxlib
import numpy as np

from .. import spec
from .._disk.folder import RunFolder
from .._fingerprint import fingerprint, sum_of
from .._kernels.installed import cpu_features
from .._network.changes import facts_of, unlike
from .._network.network import Network
from .._network.state import NetworkState, SavedState
from .._numerics.grid import steps_on_grid
from .._text import shown
from .._version import __version__
from ..spec import InvalidValueError
from .info import RunInfo
from .inputs import SpikesByStep
from .intervals import Ends, grown, result_fields
from .part_files import RUN, parts_here, parts_named
from .record import Record
from .result import Result
from .stopped import over_processes

_log = logging.getLogger("jaxneuro")


# --- Which run it is, and in what it differs from that of a folder.


def _about(
    net: Network, start: NetworkState, record: Record, info: RunInfo, inputs: Any
) -> dict[str, Any]:
    """What tells a run from others, and what of it is known before it."""
    facts = {name: getattr(record, name) for name in record.__dataclass_fields__}
    if record.function is not None or record.recorders:  # whose names may be those of others
        shapes = jax.tree.map(lambda x: f"{x.dtype}{list(x.shape)}", record.shapes(net, start))
        facts |= {f"samples of {k}": str(x) for k, x in shapes.items()}
    return {
        "network": json.dumps(facts_of(net)),
        "fingerprint": np.asarray(net.fingerprint),
        "record": {k: [shown(x), fingerprint(x).tobytes().hex()] for k, x in facts.items()},
        "key": int(start.seed),
        "start": sum_of(jax.tree.leaves(start)),
        "inputs": sorted(inputs),
        "first_step": int(start.step),
        "info": json.dumps(info._replace(n_steps=0)),
        "constants": record.constants(net),
        "with": _here(),
    }


def _here() -> str:
    """What equal bits are promised on."""
    device = jax.devices()[0]
    cpu = f"{platform.machine()} with {cpu_features()}" if device.platform == "cpu" else ""
    return (
        f"jaxneuro {__version__}, jax {jax.__version__}, jaxlib {jaxlib.version.__version__}, "
        + (cpu or device.device_kind)
    )


def _differences(now: Mapping[str, Any], before: Mapping[str, Any]) -> list[str]:
    """In what a run differs from the one of a folder, a line each."""
    found = unlike(json.loads(now["network"]), json.loads(before["network"]))
    if not found and not np.array_equal(now["fingerprint"], before["fingerprint"]):
        found = ["the network: another description, key of build or partition"]
    for name, (text, digest) in now["record"].items():
        was, old = before["record"].get(name, ["nothing", ""])
        if digest != old:
            found.append(f"record: {name} {text}, was {was}")
    for name in ("key", "inputs"):
        if now[name] != before[name]:
            found.append(f"{name}: {shown(now[name])}, was {shown(before[name])}")
    if not found and (now["start"], now["first_step"]) != (before["start"], before["first_step"]):
        found = ["state: it starts from another one"]
    return found


# --- The folder as the loop of `simulate` has it.


class SavedRun:
    """A run that is written to a folder while it goes on, by a thread of its own.

    Attributes:
        every: steps of an interval.
        saved: what the last state has beside arrays: sums, times, and how far the run is.
        before: what it had when this call began.
    """

    def __init__(self, path: Any, every: int):
        self.folder, self.every = RunFolder("simulate", path, RUN), every
        self.saved: dict[str, Any] = {
            **{"ends": Ends().saved(), "inputs": {}, "sums": {}},
            **{"compile_s": 0.0, "run_s": 0.0, "until_held": False},
        }
        self.before = self.saved

    def __enter__(self) -> "SavedRun":
        self.folder.__enter__()
        return self

    def __exit__(self, *how: Any) -> None:
        self.folder.__exit__(*how)

    def begin(self, net: Network, start: NetworkState, record: Record, inputs: Any) -> NetworkState:
        """The state to go on from: `start` in a new folder.

        Raises:
            InvalidValueError: for the folder of another run, with the difference.
        """
        info = RunInfo.of(net, start, record, 0)
        self._parts = parts_here()
        self._net, self._about, self._given = net, _about(net, start, record, info, inputs), inputs
        before, last = self.folder.about(), self.folder.last()
        if before is None or last is None:
            self.folder.go_on_after(0)
            self._about["parts"] = self._parts.name
            self.folder.begin(self._about)
            return start
        self._about["parts"], self._parts = before["parts"], parts_named(before["parts"])
        self.saved = self.before = last[1]
        self.folder.refuse(_differences(self._about, before) or self._other_inputs())
        self.folder.go_on_after(last[0])
        if before["with"] != self._about["with"]:
            _log.warning(
                "simulate: the run in %s was begun with %s and goes on with %s: bits may differ",
                *(self.folder.path, before["with"], self._about["with"]),
            )
        return SavedState(**self.saved.pop("state")).on(net)

    @property
    def intervals(self) -> int:
        """How many intervals were handed over."""
        return len(self.saved["ends"]["steps"])

    @property
    def steps(self) -> int:
        """How many steps they have."""
        return int(self.saved["ends"]["steps"][-1]) if self.intervals else 0

    def hand_over(self, values: Mapping[str, Any], run: Mapping[str, Any]) -> None:
        """Has an interval written, of these fields of a `Result`, and the state after it.

        `run` are the times and `until_held` of the whole run. Of an interval without a step only
        the state is written again. An interval is taken once, also if Ctrl-C came in between.
        """
        begin, steps, number = self.steps, values["n_steps"], self.intervals
        if values["first_step"] - self._about["first_step"] < begin:
            return
        ends, sums = Ends.of(self.saved["ends"]), dict(self.saved["inputs"])
        new = steps > 0 or not number
        if new:
            sums = self._summed(sums, begin, begin + steps)
            ends = ends.after(values)
        saved = {
            "ends": ends.saved(),
            "inputs": sums,
            "sums": {name: tuple(x) for name, x in values["statistics"].items()},
            **run,
        }
        state = values["state"]

        def part(stem: Path) -> None:
            if new:
                self._parts.write(stem, grown(values), values)

        self.folder.write_meanwhile(
            part,
            len(saved["ends"]["steps"]),
            lambda: {"state": dict(vars(SavedState.of(state))), **saved},
        )
        self.saved = saved

    def result(self, now: Mapping[str, Any] | None, known: Mapping[str, Any]) -> Result:
        """All of the run, with the interval `now` that is not handed over, and what is `known`."""
        self.folder.wait()
        found = result_fields(self.folder, self._about, self.saved, now)
        return Result(**{**found, **known, "network": self._net})

    def _summed(self, sums: Mapping[str, str], first: int, last: int) -> dict[str, str]:
        """The sums of the inputs up to a step, from those up to one before."""
        return {
            name: sum_of((np.array(sums.get(name, "")), *_some(x, first, last)))
            for name, x in self._given.items()
        }

    def _other_inputs(self) -> list[str]:
        """Which inputs are not those of the steps that were run."""
        sums: dict[str, str] = {}
        begin = 0
        for end in Ends.of(self.saved["ends"]).steps:
            sums, begin = self._summed(sums, begin, end), end
        ms = begin * self._net.dt
        was = self.saved["inputs"]
        return [f"input of {k!r}: others in the first {ms:g} ms" for k in sums if was[k] != sums[k]]


def _some(given: Any, first: int, last: int) -> tuple[np.ndarray, ...]:
    """An input in some steps; of spikes not a number for each neuron and step."""
    if isinstance(given, SpikesByStep):
        return given.events(first, last)
    return (given[first:last],)


def interval_of(net: Network, save: Any, every: Any) -> int | None:
    """How many steps an interval of a run has that is saved; None of one that is not."""
    if save is None:
        if every is not None:
            must = "None without save=, which it is for"
            raise InvalidValueError("simulate", "every", must, str(every))
        return None
    if over_processes(net):
        must = "None for a network over several processes"
        raise InvalidValueError("simulate", "save", must, str(save))
    ms = spec.check("simulate", "every", spec.Number("ms", above=0.0), every)
    return int(steps_on_grid("simulate: every", ms, net.dt, at_least=1))
