"""What the native kernels are built with."""

import re
import tomllib
from pathlib import Path


def test_the_headers_are_of_the_oldest_jaxlib_that_may_run_them():
    """A jaxlib refuses what was built with newer headers than its own, and JAX then has no CPU."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    (runs,) = [x for x in project["project"]["dependencies"] if x.startswith("jaxlib")]
    oldest = re.fullmatch(r"jaxlib>=([\d.]+)", runs)[1]
    assert any(x.startswith(f"jaxlib=={oldest}.*") for x in project["build-system"]["requires"])
