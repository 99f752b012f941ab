"""A postsynaptic event by an index of targets: ns per pairing, to compare with waiting rows."""

import argparse
import subprocess
import tempfile
from pathlib import Path

from ._record import make_record, print_record
from ._run import versions

SOURCE = Path(__file__).with_name("transposed.cc")
# Sources, targets, synapses per source, events: those of stdp, and a quarter of hpc.
CASES = {"stdp": (10_000, 1_000, 100, 4_000), "hpc": (2_250, 9_000, 9_000, 2_000)}


def add_options(parser: argparse.ArgumentParser) -> None:
    """None."""


def run(options: argparse.Namespace) -> None:
    """Compiles the loop and runs it at both sizes."""
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "transposed")
        subprocess.run(["g++", "-O3", "-march=native", "-o", program, str(SOURCE)], check=True)
        for case, numbers in CASES.items():
            command = [program, *map(str, numbers)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            record = make_record(
                bench="transposed",
                impl="an index by target",
                neurons=numbers[0] + numbers[1],
                synapses=numbers[0] * numbers[2],
                dt_ms=0.1,
                bio_s=1.0,
                wall_s=0.0,
                threads=1,
                versions=versions(),
            )
            print_record(record | {"case": case, "ns_per_pairing": float(done.stdout)})
