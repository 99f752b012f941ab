"""Prints what the package and some of its extras need, for `pip install --requirement`:

python scripts/requirements.py plot,progress
"""

import re
import sys
import tomllib
from pathlib import Path

TEXT = (Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8")
PROJECT = tomllib.loads(TEXT)["project"]


def requirements(extras: list[str]) -> list[str]:
    """What these extras need; some of them name others, as `jaxneuro[pandas]`."""
    found = []
    for line in [x for extra in extras for x in PROJECT["optional-dependencies"][extra]]:
        others = re.fullmatch(rf"{PROJECT['name']}\[(.+)\]", line)
        found += requirements(others[1].split(",")) if others else [line]
    return found


print("\n".join([*PROJECT["dependencies"], *requirements(sys.argv[1].split(","))]))
