"""The same 4,000 COBA neurons as 2, 20 and 100 populations: one JSON line each."""

from ._balanced import coba
from ._record import print_record
from ._run import Timed, add_network_options, median_record

__all__ = ["add_options", "run"]

add_options = add_network_options
PARTS = (1, 10, 50)


def run(options) -> None:
    """Runs the three in turn, so that they see the same machine."""
    timed = {
        2 * parts: Timed(f"coba as {2 * parts} populations", coba(options.neurons, parts), options)
        for parts in PARTS
    }
    records = {number: [] for number in timed}
    for _ in range(options.repeats):
        for number, one in timed.items():
            records[number].append(one.once())
    for lines in records.values():
        print_record(median_record(lines))
