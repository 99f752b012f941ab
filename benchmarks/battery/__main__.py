"""Runs batteries of tests on the words of a time step: one JSON line per battery and direction.

`python -m benchmarks.battery small --directions network steps`. Needs a C++ compiler and TestU01
(Debian: libtestu01-0-dev); `practrand` needs the program RNG_test of PractRand on the path.
"""

import argparse
import datetime
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from jaxneuro._numerics.streams import Stream, stream_key

HERE = Path(__file__).parent
UNITS = 77_169
DIRECTIONS = (
    *("network", "units", "steps", "second steps", "few"),
    *("both", "seeds", "keys", "purposes"),
)


def build(folder: str) -> str:
    """The compiled program; its words are checked against those of the package."""
    program = str(Path(folder) / "battery")
    libraries = ["-ltestu01", "-ltestu01probdist", "-ltestu01mylib", "-lm"]
    flags = ["-std=c++17", "-O3", "-march=native"]
    subprocess.run(["c++", *flags, HERE / "battery.cc", "-o", program, *libraries], check=True)
    for direction in DIRECTIONS:
        want = expected(direction)
        with subprocess.Popen([program, direction, "pipe"], stdout=subprocess.PIPE) as run:
            assert run.stdout is not None
            got = np.frombuffer(run.stdout.read(4 * want.size), np.uint32)
            run.kill()
        if (got != want).any():
            raise SystemExit(f"{direction}: these are not the words of jaxneuro.Stream")
    return program


def expected(direction: str) -> np.ndarray:
    """The first words of a direction, from the package."""
    high, low = stream_key(np.uint32(0), "battery", "stimulus")
    units = Stream(high, low, np.arange(UNITS, dtype=np.uint32))
    if direction in ("network", "units"):
        return units.word(0)
    if direction in ("steps", "second steps"):
        unit = np.full(1, 16 * (direction != "steps"), np.uint32)
        return np.concatenate([Stream(high, low, unit).word(k) for k in range(500)])
    if direction == "few":
        few = Stream(high, low, np.arange(32, dtype=np.uint32))
        return np.concatenate([few.word(k) for k in range(100)])
    if direction == "both":
        return np.stack(units.bits(0), axis=1).ravel()
    if direction == "purposes":
        return np.stack([units.bits(0, k)[0] for k in range(4)], axis=1).ravel()
    if direction == "seeds":
        keys = [stream_key(np.uint32(k), "battery", "stimulus") for k in range(300)]
    else:
        keys = [(np.uint32(0), np.uint32(k)) for k in range(300)]
    return np.concatenate([Stream(*key, np.zeros(1, np.uint32)).word(0) for key in keys])


def practrand(command: list[str], size: str) -> dict:
    """PractRand on the words, up to a size such as 8GB."""
    with subprocess.Popen(command, stdout=subprocess.PIPE) as words:
        test = ["RNG_test", "stdin32", "-tlmax", size]
        text = subprocess.run(test, stdin=words.stdout, capture_output=True, text=True).stdout
        words.kill()
    return summary(text)


def summary(text: str) -> dict:
    """What PractRand found, up to and at the last length that it reached."""
    lengths = re.findall(r"length= .*\((2\^\d+) bytes\)", text)
    results = re.findall(r"(\d+) test result", text)
    found = r"^ .*(?:unusual|suspicious|FAIL).*$"
    odd, last = (re.findall(found, x, re.MULTILINE) for x in (text, text.rpartition("length=")[2]))
    version = re.search(r"PractRand version (\S+)", text)
    return {
        "battery": f"PractRand {version[1] if version else ''}",
        "bytes": lengths[-1] if lengths else "0",
        "tests": int(results[-1]) if results else 0,
        "at_the_end": len(last),
        "anomalies": [" ".join(line.split()) for line in odd],
    }


def main() -> None:
    """The batteries that were asked for, each on every direction."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.battery", description=__doc__)
    parser.add_argument("battery", choices=["small", "crush", "big", "practrand"])
    parser.add_argument("--directions", nargs="+", default=DIRECTIONS, choices=DIRECTIONS)
    parser.add_argument("--reversed", action="store_true", help="the bits of each word reversed")
    parser.add_argument("--rounds", type=int, default=13, help="6, 8, 10, 12, 13 or 20")
    parser.add_argument("--size", default="8GB", help="of PractRand")
    options = parser.parse_args()
    if options.battery == "practrand" and not shutil.which("RNG_test"):
        raise SystemExit("practrand needs the program RNG_test on the path")
    more = ["--rounds", str(options.rounds), *["--reversed"] * options.reversed]
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder)
        for direction in options.directions:
            if options.battery == "practrand":
                line = practrand([program, direction, "pipe", *more], options.size)
                line |= {"direction": direction, "reversed": options.reversed}
                line |= {"rounds": options.rounds, "date": str(datetime.date.today())}
            else:
                command = [program, direction, options.battery, *more]
                text = subprocess.run(command, capture_output=True, text=True).stdout
                line = json.loads(next(x for x in text.splitlines() if x.startswith("{")))
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
