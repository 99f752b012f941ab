"""Whether two checkouts of the project give the same bits, and how fast each is.

    python scripts/compare_checkouts.py OLD NEW [--turns 5] [--cases coba-4000 ...]

Every case runs in turn in OLD and in NEW (A B A B ...), each time in a fresh process that imports
the package of that checkout. Prints a table: whether every spike, weight and slope is the same, the
median wall times of the runs (compile time apart) and the median ratio NEW / OLD. Exits with 1
where numbers differ. The native kernels of both checkouts must be built.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

CHILD = Path(__file__).with_name("run_for_comparison.py")
CASES = (
    *("coba-4000", "coba-40000", "coba-400000", "cuba-4000", "cuba-40000", "brunel"),
    *("microcircuit", "flybrain", "lattice", "plastic", "devices", "training", "sweep", "merge"),
)


def run(checkout: Path, case: str, threads: int, runs: int) -> dict:
    """One process: the fingerprint of the numbers and the fastest of `runs` wall times."""
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    command = [sys.executable, str(CHILD), case, str(threads), str(runs)]
    done = subprocess.run(
        command, cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{case} failed in {checkout}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--runs", type=int, default=3, help="in each process, the fastest counts")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cases", nargs="+", default=CASES, choices=CASES)
    options = parser.parse_args()
    different = False
    print(f"{'case':14} {'numbers':>10} {'same':>5} {'old s':>8} {'new s':>8} {'new/old':>8}")
    for case in options.cases:
        turns = [
            [
                run(x.resolve(), case, options.threads, options.runs)
                for x in (options.old, options.new)
            ]
            for _ in range(options.turns)
        ]
        same = len({x["numbers"] for turn in turns for x in turn}) == 1
        different |= not same
        old, new = (statistics.median(turn[k]["wall_s"] for turn in turns) for k in (0, 1))
        ratio = statistics.median(b["wall_s"] / a["wall_s"] for a, b in turns)
        count = turns[0][1]["count"]
        print(f"{case:14} {count:10,} {same!s:>5} {old:8.4f} {new:8.4f} {ratio:8.3f}", flush=True)
    return int(different)


if __name__ == "__main__":
    sys.exit(main())
