"""Applies each mutant of this folder in turn, and runs the one test that must kill it.

From the root of the repository: `python -m tests.mutants.run [NN ...]`, all or some of them. A
mutant is killed if pytest could run the test and it failed: an error of an import kills nothing.
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
KERNELS = ROOT / "jaxneuro" / "_kernels"
PIP = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
PASSED, FAILED = 0, 1  # exit codes of pytest; others say that it did not run the test
LONGEST_S = 900.0


def run(*command: str) -> tuple[int, str]:
    """Exit code and output of a command in the root; it ends, with all it started, if we do."""
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "start_new_session": True}
    process = subprocess.Popen(command, cwd=ROOT, text=True, **how)
    try:
        said, _ = process.communicate(timeout=LONGEST_S)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return process.returncode, said


@contextlib.contextmanager
def mutated(patch: Path, files: list[Path]) -> Iterator[None]:
    """The tree with a mutant in it; afterwards as it was, dates and native library included."""
    if run("git", "status", "--porcelain", "--", *map(str, files))[1]:
        raise RuntimeError("the tree is not clean where it goes")
    native = any(KERNELS / "native" in path.parents for path in files)
    changed = [*files, *(KERNELS.glob("_cpu*") if native else ())]
    with tempfile.TemporaryDirectory() as kept:
        saved = [(path, Path(kept) / str(number)) for number, path in enumerate(changed)]
        for path, copy in saved:
            shutil.copy2(path, copy)
        try:
            code, said = run("git", "apply", str(patch))
            if code:
                raise RuntimeError(f"it does not apply: {said.strip()}")
            if native:  # as `make` does
                code, said = run(*PIP, "--no-deps", "--editable", ".")
                if code or not list(KERNELS.glob("_cpu*")):
                    raise RuntimeError(f"the native kernels were not built: {said[-500:]}")
            yield
        finally:
            for path, copy in saved:
                path.unlink(missing_ok=True)  # who has loaded a library keeps the one it has
                shutil.copy2(copy, path)


def outcome(test: str) -> tuple[int, str]:
    """The exit code of pytest for a test, and the first line of its error."""
    everyday = "not slow and not science"  # as `make test`, which must kill every mutant
    code, said = run(sys.executable, "-m", "pytest", "-x", "-m", everyday, test)
    errors = re.findall(r"^E +(\S.*)", said, re.M)
    return code, errors[0][:100] if errors else ""


def check(patch: Path, also_clean: bool) -> tuple[str, str]:
    """What became of a mutant, "killed" if all is well, and the error of its test."""
    text = patch.read_text()
    test = re.findall(r"^# killed by: (\S.*)$", text, re.M)[0]
    files = [ROOT / name for name in re.findall(r"^--- a/(.+)$", text, re.M)]
    if also_clean:
        code, error = outcome(test)
        if code != PASSED:
            return f"NO PASS without it, pytest says {code}: {test}", error
    with mutated(patch, files):
        code, error = outcome(test)
    known = {FAILED: "killed", PASSED: "SURVIVED"}
    return known.get(code, f"NOT RUN, pytest says {code}: {test}"), error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("numbers", nargs="*", help="numbers of mutants, such as 01; all if none")
    parser.add_argument("--also-clean", action="store_true", help="tests must pass without it")
    parser.add_argument("--why", action="store_true", help="show the error of each test")
    args = parser.parse_args()
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, signal.default_int_handler)  # so that the tree is put right
    patches = {path.name[:2]: path for path in sorted(HERE.glob("*.patch"))}
    if unknown := set(args.numbers) - patches.keys():
        parser.error(f"there is no mutant {', '.join(sorted(unknown))}")
    good = True
    for number in args.numbers or patches:
        start, error = time.perf_counter(), ""
        try:
            said, error = check(patches[number], args.also_clean)
        except (RuntimeError, subprocess.TimeoutExpired) as broken:
            said = f"BROKEN, {broken}"
        good = good and said == "killed"
        why = f"  {error}" if args.why else ""
        print(f"{number} {said} {time.perf_counter() - start:.1f} s{why}", flush=True)
    sys.exit(not good)


if __name__ == "__main__":
    main()
