"""Every kind of network compiled for cards that are not there; fails if one got worse."""

import argparse
import json
import sys
from typing import Any

from . import _gpu_compile
from ._cards import CARDS, COMPILED
from ._gpu_table import TABLE

__all__ = ["add_options", "run"]

MOST_SPILLED = 256  # bytes of a thread


def add_options(parser: argparse.ArgumentParser) -> None:
    """Which networks and cards, and whether to write the table."""
    parser.add_argument("--networks", nargs="*", help="default: all")
    parser.add_argument("--cards", nargs="*", choices=CARDS, default=COMPILED)
    parser.add_argument("--update", action="store_true", help="write what is found as the table")


def run(options: argparse.Namespace) -> None:
    """Prints the table, then what is wrong; exits with 1 if anything is."""
    _gpu_compile.prepare()
    from ._gpu_networks import PROGRAMS

    version, wrong = _gpu_compile.versions(), []
    table: dict[str, Any] = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    found: dict[str, Any] = {}
    for name in options.networks or PROGRAMS:
        function, args, n = PROGRAMS[name]()
        for card in options.cards:
            try:
                got = _gpu_compile.compile_for(CARDS[card], function, args, n)
            except Exception as error:
                wrong.append(f"{name}, {card}: refused: {str(error)[:300]}")
                continue
            found.setdefault(name, {})[card] = _kept(got)
            print(f"{name:24s} {card:9s}", json.dumps(_kept(got)), flush=True)
            limit = got.launches if options.update else _limit(table, version, name, card)
            # A loop that is differentiated copies states of neurons, which it keeps.
            most = 8 * n if name.startswith("gradient") else n / 8
            wrong += [f"{name}, {card}: {x}" for x in _faults(got, most, limit)]
    if options.update:
        table[version] = table.get(version, {}) | found
        TABLE.write_text(_text(table))
    print(*wrong, sep="\n", file=sys.stderr)
    if wrong:
        raise SystemExit(1)


def _limit(table: dict[str, Any], version: str, name: str, card: str) -> int | None:
    """The launches that this jax makes, or that the others make at most if it is a new one."""
    versions = [version] if name in table.get(version, {}) else table
    there = [table[v][name][card]["launches"] for v in versions if card in table[v].get(name, {})]
    return max(there, default=None)


def _text(table: dict[str, Any]) -> str:
    """JSON with a line for each network."""
    versions = []
    for version, networks in table.items():
        rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(x)}" for name, x in networks.items())
        versions.append(f" {json.dumps(version)}: {{\n{rows}\n }}")
    return "{\n" + ",\n".join(versions) + "\n}\n"


def _kept(got: _gpu_compile.Compiled) -> dict[str, Any]:
    return {
        "launches": got.launches,
        "copied": got.copied,
        "moved": got.moved,
        "buffered": got.buffered,
        "kernels": {name: list(x) for name, x in got.kernels.items()},
    }


def _faults(got: _gpu_compile.Compiled, most: float, limit: int | None) -> list[str]:
    out = [f"falls back: {line}" for line in got.said]
    spilling = {name: x.spilled for name, x in got.kernels.items() if x.spilled > MOST_SPILLED}
    out += [f"{name} spills {x} bytes of a thread" for name, x in spilling.items()]
    if got.copied >= most:  # by default not even the spikes of a step, as bits
        out.append(f"the loop copies {got.copied} bytes per step")
    if limit is None:
        out.append("not in the table (--update writes it)")
    elif got.launches > limit:
        out.append(f"{got.launches} launches per step, {limit} in the table")
    return out
