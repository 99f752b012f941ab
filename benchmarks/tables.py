"""Measures the tables of README.md and docs/performance.md, and writes them from what is stored.

`--measure` runs the rows that benchmarks/results/tables.json does not have from this commit and
machine, stores each as soon as it ends, and writes the pages; a run that was cut off goes on with
the next row. Without it the pages are written from the file as it is, those of docs/gpu.md too.
"""

import argparse
from pathlib import Path

from ._gpu_table import launches_table
from ._page_tables import PERFORMANCE, README
from ._rows import ALL, RESULTS, ROOT, ROWS, measure, read
from .predict_gpu import prediction_table

__all__ = ["add_options", "run"]

BEGIN, END = "<!-- {}: python -m benchmarks tables -->", "<!-- end of {} -->"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument("--check", action="store_true", help="only compare, exit 1 if they differ")
    parser.add_argument("--measure", action="store_true", help="measure rows that are missing")
    parser.add_argument(
        "--only", nargs="+", metavar="ROW", choices=ROWS, help=f"of {', '.join(ROWS)}"
    )
    parser.add_argument("--again", action="store_true", help="measure stored rows, too")
    parser.add_argument("--against", nargs="*", metavar="PEER", choices=ALL, default=ALL)
    parser.add_argument("--small", action="store_true", help="tiny sizes, for a test; needs --file")
    parser.add_argument(
        "--file", type=Path, default=RESULTS, help="another one: pages are made, but not written"
    )


def run(options: argparse.Namespace) -> None:
    """Measures rows if asked to, and rewrites the pages between the marks."""
    if options.small and options.file == RESULTS:
        raise SystemExit("--small needs --file: its times are no results")
    failed = []
    if options.measure:
        names = options.only or list(ROWS)
        failed = measure(names, options.file, options.small, options.against, options.again)
    elif options.only or options.again or options.small:
        raise SystemExit("--only, --again and --small need --measure")
    texts = pages(options.file)
    changed = [page for page, text in texts.items() if page.read_text() != text]
    if options.check:
        names = ", ".join(page.name for page in changed)
        raise SystemExit(f"out of date: {names}" if changed else 0)
    for page in changed if options.file == RESULTS else []:
        page.write_text(texts[page])
    if failed:
        raise SystemExit(f"failed, and not stored: {', '.join(failed)}")


def pages(results: Path = RESULTS) -> dict[Path, str]:
    """The pages with tables as they should be, by path."""
    rows, docs = read(results), ROOT / "docs"
    parts = [(ROOT / "README.md", name, text(rows)) for name, text in README.items()]
    parts += [(docs / "performance.md", name, text(rows)) for name, text in PERFORMANCE.items()]
    parts += [(docs / "gpu.md", "launches", launches_table())]
    parts += [(docs / "gpu.md", "prediction", prediction_table())]
    out: dict[Path, str] = {}
    for page, name, text in parts:
        begin, end = BEGIN.format(name), END.format(name)
        before, mark, rest = out.get(page, page.read_text()).partition(begin)
        if not mark or end not in rest:
            raise ValueError(f"{page.name} has no region {name!r}")
        out[page] = f"{before}{begin}\n\n{text}\n{end}{rest.partition(end)[2]}"
    return out
