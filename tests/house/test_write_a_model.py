"""The page on writing models: its code runs, and does what the page says."""

import math
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


def length(text: str) -> int:
    return len([line for line in text.splitlines() if line.strip()])


def test_the_first_neuron_has_fifteen_lines():
    first = blocks(PAGE)[0]
    assert length(first[first.index("class TiredState") :]) <= 15


@pytest.mark.parametrize("name", ["Desensitizing", "Tiring"])
def test_a_receptor_and_a_release_have_fifteen_lines(name):
    (text,) = [x for x in blocks(PAGE) if f"class {name}State" in x]
    assert length(text[text.index(f"class {name}State") : text.index("cells = ")]) <= 15


@pytest.mark.slow
def test_a_stimulus_has_ten_lines_and_grows_in_each_cycle(printed):
    (text,) = [x for x in blocks(PAGE) if "class Saw" in x]
    assert length(text[text.index("class Saw") : text.index("one = ")]) <= 10
    (at,) = numbers(printed, r"v is highest at ([\d.]+) ms")
    assert at == pytest.approx(100.0, abs=0.3)


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


def test_an_m_current_slows(printed):
    found = re.findall(
        r"(with|without) an M-current: (\d+) intervals, from (.*) to (.*) ms", printed
    )
    (_, many, early, late), (_, few, first, last) = found
    assert int(many) > int(few) > 10
    assert float(early) == float(late)
    assert float(last) > 1.2 * float(first)


def test_the_coin_falls_as_often_as_it_should(printed):
    (rate,) = numbers(printed, r"(\d+) Hz of 500")
    assert rate == pytest.approx(500.0, rel=0.1)


def test_a_counter_counts_to_five(printed):
    arrived, spikes = numbers(re.search("in and out: .*", printed)[0], r"\d+")
    assert arrived // 5 - 1 <= spikes <= arrived // 5


def test_the_receptor_desensitises(printed):
    ((first, second, third),) = [
        numbers(x, r"[\d.]+(?=[,\]])") for x in re.findall(r"nS: (\[.*?\])", printed)
    ]
    left = 1.0 - 0.5 * math.exp(-20.0 / 200.0)  # ready at the second spike
    assert first == 5.0
    assert second == pytest.approx(5.0 * left + 5.0 * math.exp(-20.0 / 5.0), abs=0.01)
    assert third < second
    (v,) = numbers(printed, r"at most (-[\d.]+) mV")
    assert -70.0 < v < -60.0


def test_the_release_tires_and_recovers(printed):
    ((*tired, late),) = [
        numbers(x, r"[\d.]+") for x in re.findall(r"left after a spike: (.*)", printed)
    ]
    x, expected = 1.0, []
    for _ in range(3):
        expected.append(0.6 * x)
        x = 1.0 + (0.6 * x - 1.0) * math.exp(-10.0 / 100.0)
    assert tired == pytest.approx(expected, abs=0.006)
    assert late == pytest.approx(0.6, abs=0.006)


def test_the_oracle_is_near(printed):
    (off,) = numbers(printed, r"oracle: (\S+) mV")
    assert off < 1e-3


def test_every_link_leads_somewhere():
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / PAGE).read_text())
    assert {"zoo.md", "zoo_transmission.md", "../CONTRIBUTING.md"} <= set(links)
    assert [x for x in links if not (ROOT / PAGE).parent.joinpath(x).exists()] == []
