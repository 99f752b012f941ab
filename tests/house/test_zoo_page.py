"""The pages of all models are what their script writes, and name every one of them."""

import re

import pytest

import jaxneuro as jn
from scripts import zoo_page, zoo_transmission
from scripts.zoo_checks import checks
from scripts.zoo_figures import SHOWN
from scripts.zoo_names import KINDS, PEERS
from scripts.zoo_sections import FIGURES

NEURONS = zoo_page.neurons()
WRITTEN = zoo_page.PAGE.read_text()


def test_the_text_is_up_to_date():
    assert zoo_page.page() == WRITTEN, "run `make zoo` (`python -m scripts.zoo_page --text`)"


def test_all_neurons_are_found():
    public = {x for x in vars(jn.neurons).values() if isinstance(x, type)}
    assert {x for x in public if issubclass(x, jn.Neuron)} == set(NEURONS.values())
    assert len(NEURONS) >= 26
    assert set(NEURONS) == set(KINDS) == set(SHOWN)


@pytest.mark.parametrize("name", NEURONS)
def test_a_neuron_has_a_place_and_a_figure(name):
    assert f"| [`{name}`](#{name.lower()}) |" in WRITTEN
    section = WRITTEN.split(f"\n### {name}\n", 1)[1].split("\n### ", 1)[0]
    assert f"](zoo/{name}.png)" in section
    assert "the laws on `" in section
    figure = FIGURES / f"{name}.png"
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert 4_000 < figure.stat().st_size < 60_000


def test_no_figure_is_left_over():
    assert {x.stem for x in FIGURES.iterdir()} == {*NEURONS, *zoo_transmission.figures()}


def test_every_channel_and_integrator_has_a_place():
    for cls in zoo_page.classes(jn.channels, jn.channels.Channel):
        assert f"\n### {cls}\n" in WRITTEN
    assert len(re.findall(r"^\| `(?:rk4|heun|\w+_euler)` \|", WRITTEN, re.MULTILINE)) == 4


def test_what_others_call_it_is_here():
    for *_, here in PEERS:
        named = set(re.findall(r"`(\w+)", here))
        assert named & {*NEURONS, *vars(jn.stimuli)}, here


def test_every_link_leads_somewhere():
    links = set(re.findall(r"\]\(([^)#]+)\)", WRITTEN))
    assert len(links) > len(NEURONS)
    assert [x for x in links if not (zoo_page.PAGE.parent / x).exists()] == []


def test_no_line_of_a_docstring_becomes_a_list():
    """A wrapped formula may begin with a minus: paragraphs are written as one line."""
    begins = [x for x in WRITTEN.splitlines() if re.match(r"[-+*#>] ", x)]
    assert [x for x in begins if not x.startswith(("# ", "- the laws on `", "- ["))] == []


def test_checks_are_found_through_helpers():
    """Also tests that reach the class by a name of the file, and none that do not."""
    found = dict(checks(jn.neurons.PoissonSource))["neurons/test_sources.py"]
    assert "draws" in found
    assert "half_a_spike_is_one" not in found
