"""What `gpu_check` found, as docs/gpu.md shows it."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ._cards import CARDS

TABLE = Path(__file__).parent / "results" / "gpu_launches.json"


def launches_table() -> str:
    """A row for each network, of all cards and versions together."""
    table: dict[str, Any] = json.loads(TABLE.read_text())
    cards = {card for networks in table.values() for x in networks.values() for card in x}
    names = {name: None for networks in table.values() for name in networks}
    compiled = ", ".join(card for card in CARDS if card in cards)
    out = f"With {' and '.join(table)}, for {compiled}:\n\n"
    out += "| network | launches | command buffer | registers | spilled | shared | bytes |\n"
    out += "|---" * 7 + "|\n"
    for name in names:
        rows = [x for networks in table.values() for x in networks.get(name, {}).values()]
        kernels = [k for x in rows for k in x["kernels"].values()]
        columns = [_span(x["launches"] for x in rows)]
        columns.append(" or ".join(sorted({x["buffered"] or "none" for x in rows})))
        columns += [_span(k[place] for k in kernels) for place in range(3)]
        columns.append(_span(x["moved"] for x in rows))
        out += f"| {name} | {' | '.join(columns)} |\n"
    return out


def _span(numbers: Iterable[int]) -> str:
    low, *rest = sorted(set(numbers))
    return f"{low:,} to {rest[-1]:,}" if rest else f"{low:,}"
