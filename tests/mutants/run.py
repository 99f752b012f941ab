"""Applies each mutant of this folder in turn, and runs the one test that must kill it.

From the root of the repository: `python -m tests.mutants.run [NN ...]`, all or some of them. A
mutant is killed if pytest ran the test and it failed: a test that cannot be collected kills nothing.
"""

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NATIVE = "jaxneuro/kernels/native/"
PIP = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
PASSED, FAILED = 0, 1  # exit codes of pytest; others say that it could not run the test
LONGEST_S = 900.0


def run(command: list[str], **how: object) -> subprocess.CompletedProcess:
    """A command in the root of the repository, and what it said."""
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, **how)


def build() -> None:
    """Compiles the native kernels, as `make` does."""
    done = run([*PIP, "--no-deps", "--editable", "."])
    if done.returncode or not list((ROOT / NATIVE).parent.glob("_cpu*")):
        raise RuntimeError(f"the native kernels were not built: {done.stderr[-500:]}")


@contextlib.contextmanager
def mutated(patch: Path, files: list[Path]) -> Iterator[None]:
    """The tree with a mutant in it; afterwards as it was, dates and native library included."""
    if run(["git", "status", "--porcelain", "--", *map(str, files)]).stdout:
        raise RuntimeError("the tree is not clean where it goes")
    native = any(NATIVE in str(path) for path in files)
    libraries = list((ROOT / NATIVE).parent.glob("_cpu*")) if native else []
    with tempfile.TemporaryDirectory() as kept:
        saved = [(path, Path(kept) / str(k)) for k, path in enumerate([*files, *libraries])]
        for path, copy in saved:
            shutil.copy2(path, copy)
        try:
            if (done := run(["git", "apply", str(patch)])).returncode:
                raise RuntimeError(f"it does not apply: {done.stderr.strip()}")
            if native:
                build()
            yield
        finally:
            for path, copy in saved:
                path.unlink(missing_ok=True)  # a library that is loaded stays as it is
                shutil.copy2(copy, path)


def outcome(test: str) -> tuple[int, str]:
    """The exit code of pytest for a test, and the first line of its error."""
    done = run([sys.executable, "-m", "pytest", "-x", test], timeout=LONGEST_S)
    errors = re.findall(r"^E +(\S.*)", done.stdout, re.M)
    return done.returncode, errors[0][:100] if errors else ""


def check(patch: Path, also_clean: bool) -> tuple[bool, str]:
    """Whether a mutant is killed, and what there is to say."""
    text = patch.read_text()
    test = re.findall(r"^# killed by: (\S.*)$", text, re.M)[0]
    files = [ROOT / name for name in re.findall(r"^--- a/(.+)$", text, re.M)]
    if also_clean and (clean := outcome(test))[0] != PASSED:
        return False, f"NO PASS without it: {clean[1] or test}"
    with mutated(patch, files):
        code, error = outcome(test)
    words = {FAILED: "killed", PASSED: "SURVIVED"}
    return code == FAILED, words.get(code, f"NOT RUN, pytest says {code}: {test}") + "\t" + error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("numbers", nargs="*", help="numbers of mutants, such as 01; all if none")
    parser.add_argument("--also-clean", action="store_true", help="the tests must pass without")
    parser.add_argument("--why", action="store_true", help="show the error of each test")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the tree is put right
    os.environ.pop("PYTEST_ADDOPTS", None)
    patches = [
        p for p in sorted(HERE.glob("*.patch")) if p.name[:2] in (args.numbers or [p.name[:2]])
    ]
    good = len(patches) >= len(set(args.numbers)) and bool(patches)
    for patch in patches:
        start = time.perf_counter()
        try:
            killed, said = check(patch, args.also_clean)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            killed, said = False, f"BROKEN, {error}"
        good, (said, _, error) = good and killed, said.partition("\t")
        why = f"  {error}" if args.why else ""
        print(f"{patch.name[:2]} {said} {time.perf_counter() - start:.1f} s{why}", flush=True)
    sys.exit(not good)


if __name__ == "__main__":
    main()
