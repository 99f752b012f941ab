"""Times a network with and without a feature in turn, and peers that have the feature."""

from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

import jaxneuro as jn

from ._pairing import pair, print_table
from ._peers import run_peer
from ._record import Record, print_record, round_floats
from ._run import Timed, median_record

VARIANTS = ("with", "without")


class Variant(Timed):
    """A network whose records say which variant it is, and the rates of its populations."""

    def __init__(self, bench: str, description: jn.Description, options: Any, name: str):
        super().__init__(bench, description, options, rates=True)
        self.name = name

    def more(self, result: jn.Result) -> Record:
        return {"variant": self.name}


def run_variants(
    bench: str,
    ours: Mapping[str, Timed],
    options: Any,
    more: Mapping[str, float | str] | None = None,
    extend: Callable[[float], Record] | None = None,
) -> None:
    """Runs both variants and the peers in turn, and prints a JSON line for each of ours.

    The line "with" also has `over_without`, the median over the turns of the ratio of both times.
    `more`: options that only the peers of this benchmark have. `extend` makes fields of the line
    "with" from the median difference of both times [s].
    """
    records: dict[str, list[Record]] = {name: [] for name in ours}

    def once(name: str) -> Callable[[], Record]:
        def run() -> Record:
            records[name].append(ours[name].once())
            return records[name][-1]

        return run

    def peer(name: str) -> Callable[[], Record]:
        how = options.seconds, options.threads, options.seed
        return lambda: run_peer(name, bench, options.neurons, *how, **(more or {}))

    others = {"without": once("without")} | {name: peer(name) for name in options.against}
    table = pair(once("with"), others, options.repeats)
    turns = [(w["wall_s"], o["wall_s"]) for w, o in zip(records["with"], records["without"])]
    lines = {name: median_record(records[name]) for name in ours}
    lines["with"] |= table.over_ours
    lines["with"]["over_without"] = round_floats(median(w / o for w, o in turns))
    if extend is not None:
        lines["with"] |= extend(median(w - o for w, o in turns))
    for line in lines.values():
        print_record(line)
    print_table(table)
