"""Tables whose lines are the lines of benchmarks, and the cells of all tables, as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import Any

from ._rows import Rows

Line = dict[str, Any]
Columns = dict[str, Callable[[Line], str]]

NOT_RUN = "not run"
# What limits a figure, by case of `scaling`; measured or inferred on an Intel Xeon.
BOUNDS = {
    "coba 4k": "instructions: ring and targets in L2",
    "coba 40k": "targets in L3, ring in L2",
    "coba 400k": "ring and state in L3: a cache line per event and per 16 neurons",
    "coba 4M": "ring, state and rows in L3 and DRAM: a line per event",
    "stored 100k": "targets from DRAM, ring in L2",
    "drawn 100k": "the bits: Threefry of 20 rounds, half a call per synapse",
    "drawn 1M": "the bits, and the ring in L3",
    "drawn 10k, 1 ms": "the bits",
    "drawn 100k, 1 ms": "the bits",
    "drawn 1M, 1 ms": "the bits, and the ring in L3",
    "drawn 10M, 1 ms": "the bits, and the ring in DRAM",
}


def lines_of(rows: Rows, name: str, **like: Any) -> list[Line]:
    """The JSON lines of a row whose fields have these values; none if it was not measured."""
    lines = rows.get(name, {"lines": []})["lines"]
    return [x for x in lines if all(x.get(key) == value for key, value in like.items())]


def value_of(rows: Rows, name: str, *keys: str, **like: Any) -> float | None:
    """The median of a field over the lines of a row; further keys lead into dictionaries."""
    values = []
    for line in lines_of(rows, name, **like):
        value: Any = line
        for key in keys:
            value = (value or {}).get(key)
        values.append(value)
    values = [value for value in values if value is not None]
    return median(values) if values else None


def number(value: float | None, scale: float = 1, missing: str = NOT_RUN) -> str:
    """An integer as it is, other numbers with three significant digits."""
    if value is None:
        return missing
    value *= scale
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:#.3g}".rstrip(".")


def measured(rows: Rows, names: Iterable[str]) -> str:
    """The machine, versions, commit and dates of rows; "" if none was measured."""
    dates: dict[str, list[str]] = {}
    for row in (rows[name] for name in names if name in rows):
        versions = row["versions"]
        about = f"{row['machine']}, Python {versions['python']}, jax {versions['jax']}"
        about += f", commit {row['commit']}" if row["commit"] else ""
        dates.setdefault(about, []).append(row["date"])
    return "; ".join(f"{x}, {' to '.join(sorted({min(d), max(d)}))}" for x, d in dates.items())


def table(rows: Rows, names: Sequence[str], head: Sequence[str], body: Iterable) -> str:
    """A table in Markdown, and below it where and when its rows were measured."""
    lines = [f"| {' | '.join(cells)} |\n" for cells in (head, *body)]
    lines.insert(1, "|---" * len(head) + "|\n")
    where = measured(rows, names)
    return "".join(lines) + (f"\nMeasured on {where}.\n" if where else "")


def column(key: str, inner: str = "", scale: float = 1) -> Callable[[Line], str]:
    """A column of a field of each line, or of a field of a dictionary in it."""

    def cell(line: Line) -> str:
        value = line.get(key)
        return number(value.get(inner) if inner and value else value, scale, missing="")

    return cell


def _operations(line: Line) -> str:
    counts = ", ".join(f"{k} {op}" for op, k in line["counts"].items())
    return f"{counts}, {line['other']} others" if counts else f"{line['other']}"


def _late_rate(line: Line) -> str:
    theory = f" ({line['theory_hz']:.3g})" if line.get("theory_hz") else ""
    return number(line["late_rate_hz"]) + theory


_SIZE = {
    "synapses": column("synapses"),
    "threads": column("threads"),
    "build s": column("build_s"),
}
# By region, tables with a line for each line of their rows: title, rows, columns.
LISTS: dict[str, list[tuple[str, tuple[str, ...], Columns]]] = {
    "tables": [
        (
            "### Hodgkin-Huxley, 5,000 steps of 0.01 ms",
            ("hh",),
            {
                "method": lambda line: line["method"],
                "neurons": column("neurons"),
                "bare loop s": column("wall_s", "bare, nothing"),
                "ours s": column("wall_s", "ours, nothing"),
                "over bare": column("over_bare"),
                "with spikes s": column("wall_s", "ours, spikes"),
                "with all v s": column("wall_s", "ours, v"),
                "bare with all v s": column("wall_s", "bare, v"),
                "ns per update": column("ns_per_update"),
            },
        ),
        (
            "### Every neuron model, 10,000 neurons",
            ("neurons",),
            {
                "model": lambda line: line["model"],
                "ns per update": column("ns_per_update"),
                "arithmetic takes": column("ns_bound"),
                "times that": column("over_bound"),
                "operations": _operations,
            },
        ),
        (
            "### Cortical microcircuit",
            ("microcircuit-2", "microcircuit", "microcircuit-tenth", "microcircuit-tenth-2"),
            {
                "neurons": column("neurons"),
                **_SIZE,
                "real-time factor": column("rtf"),
                "us per step": column("us_per_step"),
                "peak MB": column("peak_rss_mb"),
            },
        ),
        (
            "### From 4,000 to 10 million neurons",
            ("scaling",),
            {
                "case": lambda line: line["case"],
                **_SIZE,
                "s per s": column("rtf"),
                "ns per neuron": column("ns_per_neuron"),
                "ns per event": column("ns_per_event"),
                "Hz (theory)": _late_rate,
                "peak MB": column("peak_rss_mb"),
                "bound by": lambda line: BOUNDS[line["case"]],
            },
        ),
        (
            "### Construction",
            ("construction", "construction-full"),
            {
                "case": lambda line: line["case"],
                **_SIZE,
                "ns per synapse": column("ns_per_synapse"),
                "bytes per synapse": column("bytes_per_synapse"),
                "peak over result": column("peak_over_result"),
            },
        ),
        (
            "### Memory",
            ("memory",),
            {
                "case": lambda line: line["case"],
                **_SIZE,
                "connections MB": column("connections_mb"),
                "bytes per synapse": column("bytes_per_synapse"),
                "peak MB": column("peak_rss_mb"),
            },
        ),
    ],
    "lattices": [
        (
            "",
            ("lattices",),
            {
                "side": column("side"),
                "neurons": column("neurons"),
                "couplings": column("synapses"),
                "us per step": column("us_per_step"),
                "steps per second": column("steps_per_s"),
            },
        )
    ],
    "operations": [
        (
            "",
            ("assemblies-operations",),
            {
                "operation": lambda line: f"`{line['operation']}`",
                "rounds": column("rounds"),
                "seconds": column("run_s"),
                "per second": column("per_second"),
            },
        )
    ],
    "breakdown": [
        (
            "",
            ("breakdown-4k", "breakdown-40k"),
            {
                "network": lambda line: f"{line['network'].upper()} {line['neurons']:,}",
                **{
                    name: column("us_per_step", name)
                    for name in ("neurons and receptors", "delivery", "recording", "all")
                },
            },
        )
    ],
    "first spike": [
        (
            "",
            ("first-spike",),
            {
                "seconds": lambda line: line["impl"],
                "import": column("import_s"),
                "build": column("build_s"),
                "compile": column("compile_s"),
                "import to first spike": column("first_spike_s"),
                "whole process": column("process_s"),
            },
        )
    ],
    "nested": [
        (
            "",
            ("nested-1k", "nested-4k", "nested-gradient"),
            {
                "neurons": lambda line: (
                    f"{line['neurons']:,}" + ", gradients, 50 ms" * line["gradient"]
                ),
                "flat s": column("flat_s"),
                "nested s": column("nested_s"),
                "nested / flat": column("nested_over_flat"),
            },
        )
    ],
    "numbering": [
        (
            "",
            ("numbering", "numbering-gap"),
            {
                "numbering": lambda line: line["numbering"],
                "joined by": lambda line: line["joined"],
                "per neuron": column("connections_per_neuron"),
                "us per step": column("us_per_step"),
                "times rows": column("over_rows"),
                "ns per event or neighbour": column("ns_per_event"),
            },
        )
    ],
}


def lists(region: str, rows: Rows) -> str:
    """The tables of a region of `LISTS`."""
    parts = []
    for title, names, columns in LISTS[region]:
        lines = [line for name in names for line in lines_of(rows, name)]
        body = [[cell(line) for cell in columns.values()] for line in lines]
        heading = f"{title}\n\n" if title else ""
        parts.append(heading + table(rows, names, list(columns), body))
    return "\n".join(parts)
