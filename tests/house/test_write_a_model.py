"""The page on writing models: its code runs, and does what the page says."""

import re
from pathlib import Path

import pytest

from tests.house.test_readme import blocks, run

ROOT = Path(__file__).resolve().parents[2]
PAGE = "docs/write-a-model.md"


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    return run(PAGE, tmp_path_factory.mktemp("page"))


def numbers(text: str, pattern: str) -> list[float]:
    return [float(x) for x in re.findall(pattern, text)]


def test_the_first_neuron_has_fifteen_lines():
    first = blocks(PAGE)[0]
    body = first[first.index("class TiredState") :]
    assert len([line for line in body.splitlines() if line.strip()]) <= 15


def test_the_neuron_tires(printed):
    none, some, much = numbers(printed.splitlines()[0], r"\d+")
    assert none > some > much > 0
    assert "with a larger b fewer" in printed


def test_methods_of_higher_order_are_nearer(printed):
    euler, exponential, runge_kutta = numbers(printed, r"([\d.]+) mV off")
    assert runge_kutta < 1e-3 < exponential < euler


def test_the_channel_excites(printed):
    without, with_it = numbers(printed, r"spikes of the axon: (\d+)")
    assert with_it > without


def test_the_coin_falls_as_often_as_it_should(printed):
    (rate,) = numbers(printed, r"(\d+) Hz of 500")
    assert rate == pytest.approx(500.0, rel=0.1)


def test_a_counter_counts_to_five(printed):
    arrived, spikes = numbers(re.search("in and out: .*", printed)[0], r"\d+")
    assert arrived // 5 - 1 <= spikes <= arrived // 5


def test_the_receptor_and_the_oracle(printed):
    ((v, g),) = re.findall(r"(-[\d.]+) mV, ([\d.]+) nS", printed)
    assert -70.0 < float(v) < -55.0
    assert float(g) == pytest.approx(54.5, abs=0.1)  # 20 nS thrice, 10 ms apart
    (off,) = numbers(printed, r"oracle: (\S+) mV")
    assert off < 1e-3


def test_every_link_leads_somewhere():
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / PAGE).read_text())
    assert {"zoo.md", "../CONTRIBUTING.md"} <= set(links)
    assert [x for x in links if not (ROOT / PAGE).parent.joinpath(x).exists()] == []
