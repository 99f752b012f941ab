"""The page on plasticity: its code runs, does what the page says, and the page has every rule."""

import inspect
import re
from pathlib import Path

import pytest

import jaxneuro as jn
from tests.house.test_readme import blocks, run

ROOT = Path(__file__).resolve().parents[2]
PAGE = "docs/plasticity.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("page")


@pytest.fixture(scope="module")
def printed(folder):
    return run(PAGE, folder)


def numbers(text, pattern):
    return [float(x) for x in re.findall(pattern, text)]


@pytest.mark.slow
def test_weights_spread(printed):
    start, end = numbers(printed, r"([\d.]+) mV at the")
    assert start < end


@pytest.mark.slow
def test_frozen_weights_rest_and_recorded_ones_have_their_shapes(printed):
    assert "frozen: True" in printed
    assert "(50, 2) (50, 20)" in printed


@pytest.mark.slow
def test_figures_are_drawn(printed, folder):
    assert printed
    for name in ("weights.png", "stdp_windows.png"):
        assert (folder / name).stat().st_size > 1000


@pytest.mark.slow
def test_the_reward_moves_weights(printed):
    (share,) = numbers(printed, r"moved (\d+)% of the weights")
    assert share > 50


@pytest.mark.slow
def test_sums_are_held(printed):
    (sums,) = re.findall(r"sums: \[(.*)\]", printed)
    assert [float(x) for x in sums.split()] == pytest.approx([50.0] * 3, abs=1.5)


@pytest.mark.slow
def test_some_synapses_move(printed):
    ((all_before, moved, all_after),) = re.findall(
        r"(\d+) synapses, (\d+) of .* (\d+) aft", printed
    )
    assert all_before == all_after
    assert 0 < int(moved) < int(all_before)


@pytest.mark.slow
def test_the_window_of_the_new_rule(printed):
    found = [
        (float(x), float(y)) for x, y in re.findall(r"ms: (\S+), by hand (\S+) at once", printed)
    ]
    assert len(found) == 2
    for change, at_once in found:
        assert change == pytest.approx(0.9 * at_once, rel=0.02)


@pytest.mark.slow
def test_the_slope_is_that_of_the_sweep(printed):
    (means,) = re.findall(r"mean weights: \[(.*)\]", printed)
    none, some, much = (float(x) for x in means.split())
    assert none < some < much
    (slope,) = numbers(printed, r"slope by the rate: (\S+)")
    assert slope == pytest.approx((much - none) / 0.02, abs=0.02)


def test_the_new_rule_is_short():
    (block,) = (x for x in blocks(PAGE) if "class Forgetting" in x)
    body = block[: block.index("figure =")]
    assert len([line for line in body.splitlines() if line.strip()]) <= 18


def test_every_rule_and_its_parameters_are_in_the_table():
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*)$", (ROOT / PAGE).read_text(), flags=re.MULTILINE))
    rules = dict(inspect.getmembers(jn.plasticity, inspect.isclass))
    assert set(rules) <= set(rows)
    for name, rule in rules.items():
        for field in inspect.signature(rule).parameters:
            assert f"`{field}`" in rows[name], (name, field)


def test_every_method_of_the_role_is_in_the_table():
    text = (ROOT / PAGE).read_text()
    methods = [
        name for name in vars(jn.Plasticity) if inspect.isfunction(vars(jn.Plasticity)[name])
    ]
    own = [name for name in methods if not name.startswith("_")]
    assert len(own) >= 14
    assert [name for name in own if f"`{name}(" not in text] == []


def test_every_link_leads_somewhere():
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / PAGE).read_text())
    assert {"guide.md", "gradients.md", "performance.md", "stdp_windows.png"} <= set(links)
    assert [x for x in links if not (ROOT / PAGE).parent.joinpath(x).exists()] == []
