"""Times jaxneuro and the peers in turn (A B C A B C ...), because machines are shared and noisy.

A ratio is taken within one turn, where both runs had the same conditions; the median over the
turns is quoted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median

from ._environments import PeerError
from ._record import Record, round_floats

OURS = "ours"


@dataclass
class Table:
    """The outcome of `pair`; the dictionaries are keyed by "ours" and the peers' names."""

    records: list[Record] = field(default_factory=list)  # in the order they were run
    walls: dict[str, list[float]] = field(default_factory=dict)  # wall_s of each turn
    failures: dict[str, str] = field(default_factory=dict)  # peers that failed, and why

    @property
    def wall_s(self) -> dict[str, float]:
        """Median wall_s of each implementation."""
        return {name: median(walls) for name, walls in self.walls.items()}

    @property
    def ratios(self) -> dict[str, list[float]]:
        """Peer/ours of each turn: above 1 we are faster."""
        ours = self.walls[OURS]
        return {
            name: [w / o for w, o in zip(walls, ours, strict=True)]
            for name, walls in self.walls.items()
            if name != OURS
        }

    @property
    def ratio(self) -> dict[str, float]:
        """Median over the turns of peer/ours."""
        return {name: median(ratios) for name, ratios in self.ratios.items()}

    @property
    def over_ours(self) -> Record:
        """The median ratios as a field of our record."""
        return {"over_ours": {name: round_floats(x) for name, x in self.ratio.items()}}


def pair(
    run_ours: Callable[[], Record],
    run_peers: dict[str, Callable[[], Record]],
    repeats: int = 3,
) -> Table:
    """Run ours and each peer in turn, `repeats` times, and collect the records.

    The callables print their own records (`record` and `run_peer` do). A peer that raises
    PeerError is reported, left out of the later turns and of the medians; ours must not fail.
    """
    table = Table()
    runs = {OURS: run_ours, **run_peers}
    for _ in range(repeats):
        for name in list(runs):
            try:
                rec = runs[name]()
            except PeerError as error:
                if name == OURS:
                    raise
                print(error, file=sys.stderr, flush=True)
                table.failures[name] = str(error)
                table.walls.pop(name, None)
                del runs[name]
                continue
            table.records.append(rec)
            table.walls.setdefault(name, []).append(rec["wall_s"])
    return table


def print_table(table: Table) -> None:
    """Print medians and ratios as plain text on stderr (stdout belongs to the JSON lines)."""
    rows: list[tuple[str, ...]] = [("", "wall_s", "min", "max", "peer/ours", "min", "max")]
    ratios = table.ratios
    for name, walls in table.walls.items():
        cells = [f"{median(walls):.4g}", f"{min(walls):.4g}", f"{max(walls):.4g}"]
        if name in ratios:
            each = ratios[name]
            cells += [f"{median(each):.2f}", f"{min(each):.2f}", f"{max(each):.2f}"]
        else:
            cells += ["", "", ""]
        rows.append((name, *cells))
    rows += [(name, "failed", "", "", "", "", "") for name in table.failures]
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for name, *cells in rows:
        line = name.ljust(widths[0])
        for cell, width in zip(cells, widths[1:], strict=True):
            line += "  " + cell.rjust(width)
        print(line.rstrip(), file=sys.stderr, flush=True)
