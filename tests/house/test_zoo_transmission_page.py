"""The page of all synapses, releases and couplings shows and names every one of them."""

import dataclasses
import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro._numerics.streams import Stream
from scripts import zoo_transmission as zoo
from scripts.zoo_coupling_figures import coupling
from scripts.zoo_names import NONE, TRANSMISSION
from scripts.zoo_sections import FIGURES
from scripts.zoo_transmission_figures import shown

WRITTEN = zoo.PAGE.read_text()
TITLES = {name: kind.title for name, kind in zoo.COUPLINGS.items()}
every_figure = pytest.mark.parametrize("name", zoo.figures())


def section(name):
    return (
        WRITTEN.split(f"\n### {TITLES.get(name, name)}\n", 1)[1]
        .split("\n## ")[0]
        .split("\n### ")[0]
    )


@pytest.mark.slow
def test_the_text_is_up_to_date():
    assert zoo.page() == WRITTEN, "run `make zoo` (`python -m scripts.zoo_page --text`)"


def test_all_models_are_found():
    roles = (jn.Synapse, jn.Release, jn.synapses.Kinetics)
    values = [x for module in (jn.synapses, jn.release) for x in vars(module).values()]
    classes = {x for x in values if isinstance(x, type) and issubclass(x, roles)}
    public = classes - set(roles)
    assert public == set(zoo.models().values())
    assert len(zoo.synapses()) >= 20
    assert set(zoo.figures()) == set(TRANSMISSION) == shown()


@every_figure
def test_an_entry_has_its_parts(name):
    text = section(name)
    assert f"](zoo/{name}.png)" in text
    figure = FIGURES / f"{name}.png"
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert 4_000 < figure.stat().st_size < 60_000
    if name in zoo.models():
        assert "| field | what it is |" in text or not dataclasses.fields(zoo.models()[name])
        tests = text.split("\nChecks:\n\n", 1)[1]
        assert tests.startswith("- "), "no test names it"


@every_figure
def test_its_names_elsewhere(name):
    """Each has a name, or the word that there is none; also on the page."""
    for simulator in TRANSMISSION[name]:
        assert "`" in simulator or simulator.startswith(NONE), simulator
    table = section(name).split("\nNames elsewhere:\n\n", 1)[1].split("\n\n", 1)[0]
    cells = table.splitlines()[2].strip("| ").split(" | ")
    assert tuple(cells) == tuple(TRANSMISSION[name])


def test_names_refer_to_models_that_exist():
    """What a name of the package is compared with is a model of the package."""
    for name, here in (("AMPA", "ampa"), ("GABA_A", "gaba_a")):
        assert f"LigandGated.{here}()" in TRANSMISSION[name].lixirnet
        assert isinstance(getattr(jn.synapses.LigandGated, here)(), jn.synapses.LigandGated)


def test_the_couplings_are_of_their_kinds():
    found = {name: coupling(name) for name in zoo.COUPLINGS}
    electrical = {name for name, c in found.items() if c.electrical}
    assert electrical == {"GapJunctions", "AveragedGapJunctions"}
    assert [name for name, c in found.items() if c.average] == ["AveragedGapJunctions"]
    releases = {name: type(c.release).__name__ for name, c in found.items() if c.release}
    assert releases == {
        "CoupledVoltages": "VoltageRelease",
        "CoupledSpikeRates": "RateRelease",
        "CoupledRates": "Graded",
    }


def test_what_delivers_between_spikes():
    """Values in a step without a spike, after one with a spike, at -20 mV."""
    found = {name: cls() for name, cls in zoo.releases().items()}

    @jax.jit
    def values(models):
        out = {}
        for name, model in models.items():
            more = (Stream(*np.uint32([1, 2]), np.zeros(1, np.uint32)),)
            more = more if isinstance(model, jn.StochasticRelease) else ()
            state, v = model.init(1, *more), jnp.full(1, -20.0)
            state, _ = model.step(state, jnp.ones(1, bool), v, 0.1)
            out[name] = model.step(state, jnp.zeros(1, bool), v, 0.1)[1]
        return out

    given = jax.device_get(values(found))
    assert {name for name, x in given.items() if x[0] != 0} == zoo.EVERY_STEP


def test_the_readme_counts_them():
    text = (Path(__file__).resolve().parents[2] / "README.md").read_text()
    assert f"there are {len(zoo.synapses())} synapses" in text
    assert f"{len(zoo.releases())} releases" in text


def test_every_link_leads_somewhere():
    links = set(re.findall(r"\]\(([^)#]+)(?:#[\w-]+)?\)", WRITTEN))
    assert len(links) > len(zoo.figures())
    assert [x for x in links if not (zoo.PAGE.parent / x).exists()] == []
    anchors = re.findall(r"\]\(#([^)]+)\)", WRITTEN)
    titles = re.findall(r"^#+ (.*)$", WRITTEN, re.MULTILINE)
    assert set(anchors) <= {x.lower().replace(" ", "-") for x in titles}


def test_no_line_of_a_docstring_becomes_a_list():
    begins = [x for x in WRITTEN.splitlines() if re.match(r"[-+*#>] ", x)]
    assert [x for x in begins if not x.startswith(("# ", "- the laws on `", "- [", "* `"))] == []
