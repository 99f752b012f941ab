"""The page of names: what it names exists here, and no rule, stimulus or receptor is missing."""

import inspect
import re
from functools import reduce
from pathlib import Path

import pytest

import jaxneuro as jn
from jaxneuro.connectivity import BlockProbability, Rule

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/names.md").read_text()
TODAY = TEXT.partition("## Names of version 0.1")[0]
NAMED = sorted(set(re.findall(r"\bjn((?:\.\w+)+)", TODAY)))


@pytest.mark.parametrize("name", NAMED)
def test_what_is_named_exists(name):
    assert reduce(getattr, name[1:].split("."), jn) is not None


def test_methods_and_fields_exist():
    for owner, kind in (("net", jn.Network), ("result", jn.Result)):
        today = TEXT.split("## Names of version 0.1")[0]
        named = set(re.findall(rf"\b{owner}\.(\w+)", today))
        assert named <= set(dir(kind)) | set(kind.__dataclass_fields__), owner


def test_every_rule_and_stimulus_is_named():
    for module, role in ((jn.connectivity, Rule), (jn.stimuli, jn.Stimulus)):
        for name, value in vars(module).items():
            if inspect.isclass(value) and issubclass(value, role) and not inspect.isabstract(value):
                here = f"{module.__name__.replace('jaxneuro', 'jn')}.{name}"
                assert here in TEXT or value in (BlockProbability, jn.stimuli.ScheduledSpikes), here


@pytest.mark.parametrize("module", [jn.analysis, jn.plot], ids=["analysis", "plot"])
def test_the_guide_names_every_function(module):
    guide = (ROOT / "docs/guide/analysis.md").read_text()
    for name in module.__all__:
        if inspect.isfunction(getattr(module, name)):
            assert re.search(rf"`{name}[`(]", guide), name


def test_every_link_leads_somewhere():
    for link in re.findall(r"\]\(([^)#]+)", TEXT):
        assert (ROOT / "docs" / link).exists(), link


def test_names_of_parameters_exist():
    """Names of parameters here, beside those of NEST, exist."""
    rows = re.findall(r"^\| `[CEVg]_.*\| (.*) \|$", TEXT, flags=re.MULTILINE)
    kinds = [kind for kind in vars(jn.neurons).values() if inspect.isclass(kind)]
    fields = {f for kind in kinds for f in vars(kind).get("__annotations__", ())}
    named = {name for row in rows for name in re.findall(r"`([cegvt]_\w+)`", row)}
    assert {"c_m", "e_l", "v_th", "g_l"} <= named <= fields | {"e_rev"}
