"""The mutants of `tests/mutants` fit the code as it is; whether they are killed, `run.py` shows."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATCHES = sorted((ROOT / "tests" / "mutants").glob("*.patch"))


@pytest.mark.parametrize("patch", PATCHES, ids=lambda path: path.stem[:2])
def test_it_applies(patch):
    applied = subprocess.run(["git", "apply", "--check", patch], cwd=ROOT, stderr=subprocess.PIPE)
    assert applied.returncode == 0, applied.stderr.decode()
