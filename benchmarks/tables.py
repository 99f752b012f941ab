"""Writes the tables of docs/performance.md and docs/gpu.md from what is in benchmarks/results."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ._gpu_table import launches_table
from .predict_gpu import prediction_table

__all__ = ["add_options", "run"]

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- {}: python -m benchmarks tables -->", "<!-- end of {} -->"

# What limits a figure, by benchmark and case; measured or inferred on the machine of the figure.
BOUNDS = {
    ("scaling", "coba 4k"): "instructions: ring and targets in L2",
    ("scaling", "coba 40k"): "targets in L3, ring in L2",
    ("scaling", "coba 400k"): "ring and state in L3: a cache line per event and per 16 neurons",
    ("scaling", "coba 4M"): "ring, state and rows in L3 and DRAM: a line per event",
    ("scaling", "stored 100k"): "targets from DRAM, ring in L2",
    ("scaling", "drawn 100k"): "the bits: Threefry of 20 rounds, half a call per synapse",
    ("scaling", "drawn 1M"): "the bits, and the ring in L3",
    ("scaling", "drawn 10k, 1 ms"): "the bits",
    ("scaling", "drawn 100k, 1 ms"): "the bits",
    ("scaling", "drawn 1M, 1 ms"): "the bits, and the ring in L3",
    ("scaling", "drawn 10M, 1 ms"): "the bits, and the ring in DRAM",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument("--check", action="store_true", help="only compare, exit 1 if they differ")


def run(options: argparse.Namespace) -> None:
    """Rewrites the pages between the marks."""
    late = [page for page, now in pages().items() if page.read_text() != now]
    if options.check:
        raise SystemExit(f"out of date: {', '.join(page.name for page in late)}" if late else 0)
    for page in late:
        page.write_text(pages()[page])


def pages() -> dict[Path, str]:
    """The pages with tables as they should be."""
    docs = ROOT / "docs"
    parts = [
        (docs / "performance.md", "tables", tables(read_results())),
        (docs / "gpu.md", "launches", launches_table()),
        (docs / "gpu.md", "prediction", prediction_table()),
    ]
    out: dict[Path, str] = {}
    for page, name, text in parts:
        begin, end = BEGIN.format(name), END.format(name)
        before, _, rest = out.get(page, page.read_text()).partition(begin)
        out[page] = f"{before}{begin}\n\n{text}{end}{rest.partition(end)[2]}"
    return out


def read_results() -> list[dict[str, Any]]:
    """All lines of the files that these tables show, oldest first, each with its file's name."""
    lines, folder = [], ROOT / "benchmarks" / "results"
    for path in sorted([*folder.glob("*-scale.jsonl"), *folder.glob("*-neurons.jsonl")]):
        lines += [{**json.loads(x), "file": path.stem} for x in path.read_text().splitlines() if x]
    return lines


def tables(lines: list[dict[str, Any]]) -> str:
    """One table per machine and benchmark, in Markdown."""
    out = ""
    for file in dict.fromkeys(line["file"] for line in lines):
        mine = [line for line in lines if line["file"] == file]
        for bench, (title, columns) in TABLES.items():
            rows = [line for line in mine if line["bench"] == bench and line.get("impl") in OURS]
            if rows:
                out += f"### {title} ({file})\n\n{_table(rows, columns)}\n"
    return out


OURS = (None, "jaxneuro")


def _table(rows: list[dict[str, Any]], columns: dict[str, Callable]) -> str:
    text = "| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|\n"
    for row in rows:
        text += "| " + " | ".join(cell(row) for cell in columns.values()) + " |\n"
    return text


def _number(key: str, scale: float = 1.0, form: str = ".3g") -> Callable:
    def cell(row: dict[str, Any]) -> str:
        value = row.get(key)
        if value is None:
            return ""
        value = value * scale
        return f"{value:,.0f}" if abs(value) >= 1000 else format(value, form)

    return cell


def _wall(case: str) -> Callable:
    return lambda row: format(row["wall_s"][case], ".3g")


def _operations(row: dict[str, Any]) -> str:
    counts = ", ".join(f"{k} {op}" for op, k in row["counts"].items())
    return f"{counts}, {row['other']} others" if counts else f"{row['other']}"


def _bound(row: dict[str, Any]) -> str:
    return BOUNDS.get((row["bench"], str(row.get("case"))), "")


TABLES: dict[str, tuple[str, dict[str, Callable]]] = {
    "hh": (
        "Hodgkin-Huxley, 5,000 steps of 0.01 ms",
        {
            "method": lambda row: row["method"],
            "neurons": _number("neurons"),
            "bare loop s": _wall("bare, nothing"),
            "ours s": _wall("ours, nothing"),
            "over bare": _number("over_bare"),
            "with spikes s": _wall("ours, spikes"),
            "with all v s": _wall("ours, v"),
            "bare with all v s": _wall("bare, v"),
            "ns per update": _number("ns_per_update"),
        },
    ),
    "neurons": (
        "Every neuron model, 10,000 neurons",
        {
            "model": lambda row: row["model"],
            "ns per update": _number("ns_per_update"),
            "arithmetic takes": _number("ns_bound"),
            "times that": _number("over_bound"),
            "operations": _operations,
        },
    ),
    "microcircuit": (
        "Cortical microcircuit",
        {
            "neurons": _number("neurons"),
            "synapses": _number("synapses"),
            "threads": _number("threads"),
            "build s": _number("build_s"),
            "real-time factor": _number("rtf"),
            "us per step": _number("us_per_step"),
            "peak MB": _number("peak_rss_mb"),
        },
    ),
    "scaling": (
        "From 4,000 to 10 million neurons",
        {
            "case": lambda row: row["case"],
            "synapses": _number("synapses"),
            "threads": _number("threads"),
            "build s": _number("build_s"),
            "s per s": _number("rtf"),
            "ns per neuron": _number("ns_per_neuron"),
            "ns per event": _number("ns_per_event"),
            "Hz (theory)": lambda row: (
                _number("late_rate_hz")(row)
                + (f" ({row['theory_hz']:.3g})" if row.get("theory_hz") else "")
            ),
            "peak MB": _number("peak_rss_mb"),
            "bound by": _bound,
        },
    ),
    "construction": (
        "Construction",
        {
            "case": lambda row: row["case"],
            "synapses": _number("synapses"),
            "threads": _number("threads"),
            "build s": _number("build_s"),
            "ns per synapse": _number("ns_per_synapse"),
            "bytes per synapse": _number("bytes_per_synapse"),
            "peak over result": _number("peak_over_result"),
        },
    ),
    "memory": (
        "Memory",
        {
            "case": lambda row: row["case"],
            "synapses": _number("synapses"),
            "build s": _number("build_s"),
            "connections MB": _number("connections_mb"),
            "bytes per synapse": _number("bytes_per_synapse"),
            "peak MB": _number("peak_rss_mb"),
        },
    ),
}
