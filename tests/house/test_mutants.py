"""Every mutant of `tests/mutants` fits the code as it is, and a test of every day kills it.

That it is killed, `run.py` shows.
"""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATCHES = sorted((ROOT / "tests" / "mutants").glob("*.patch"))
every_patch = pytest.mark.parametrize("patch", PATCHES, ids=lambda path: path.stem[:2])


@every_patch
def test_it_applies(patch):
    applied = subprocess.run(["git", "apply", "--check", patch], cwd=ROOT, stderr=subprocess.PIPE)
    assert applied.returncode == 0, applied.stderr.decode()


@every_patch
def test_make_test_runs_what_kills_it(patch, request):
    killer = re.search("^# killed by: (.*)", patch.read_text(), re.M)[1]
    tests = {item.nodeid: item for item in request.session.items}
    if killer in tests:
        assert not any(tests[killer].iter_markers("slow"))
    else:
        whole = request.config.args == request.config.getini("testpaths")
        assert request.config.option.keyword or not whole, "make test leaves it out"
        pytest.skip("it is not among the tests that run now")
