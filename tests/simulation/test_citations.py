"""What `jn.citations` gives can be read by BibTeX and is that of the network alone."""

import dataclasses
import re

import numpy as np
import pytest

import jaxneuro as jn
from tests.zoo import CASES

# These return their input or what is given, are made by `build`, or are written after a program.
UNPUBLISHED = {"Current", "Direct", "Spikes", "SpikeRate", "LeakyIzhikevich"}
UNPUBLISHED |= {"ClearedTransmitter", "DecayingTransmitter", "PulsedTransmitter", "DopaGluGABA"}
ENTRY = re.compile(r"@(article|book|misc)\{([a-z0-9]+),\n((?:  [a-z]+ = \{.+\},\n)+)\}")


def entries(text):
    """Fields of each entry by key, all of the text being comments and entries."""
    found = {m[2]: dict(re.findall(r"  (\w+) = \{(.+)\},\n", m[3])) for m in ENTRY.finditer(text)}
    rest = [x for x in ENTRY.sub("", text).splitlines() if x and not x.startswith("% ")]
    assert not rest
    assert text.count("{") == text.count("}")
    assert len(found) == text.count("\n@") + text.startswith("@")
    return found


@pytest.mark.parametrize("name", CASES)
def test_every_model_gives_what_to_cite(name):
    model = CASES[name].model
    cited = jn.citations(model)
    found = entries(str(cited))
    assert list(found) == sorted(found)
    own = [work for work in cited if type(model).__name__ in work.of]
    if type(model).__name__ in UNPUBLISHED:
        assert not any("author" in work.fields for work in own)
    else:
        assert all("title" in work.fields for work in own)
        assert any({"author", "year"} <= set(work.fields) for work in own)


def description():
    neuron = jn.neurons.AdEx(method=jn.integrators.RK4())
    rule, synapse = jn.connectivity.FixedIndegree(2), jn.synapses.AMPA()
    learned = {"synapse": synapse, "plasticity": jn.plasticity.VogelsSTDP()}
    loop = jn.Projection("E", "E", rule, weight=0.5, delay=1.0, **learned)
    noise = jn.Stimulation("E", jn.stimuli.OrnsteinUhlenbeck(10.0, 1.0, 5.0))
    return jn.Description([jn.Population("E", 4, neuron)], [loop], [noise])


def test_those_of_a_network_and_no_others():
    of = description()
    found = entries(str(jn.citations(of)))
    models = {"brette2005", "naud2008", "hairer1993", "brunel2001", "vogels2011"}
    drive = {"uhlenbeck1930", "gillespie1996"}
    assert set(found) == {"jaxneuro", "senk2022"} | models | drive
    assert found["brette2005"]["doi"] == "10.1152/jn.00686.2005"
    assert found["vogels2011"]["journal"] == "Science"
    assert found["jaxneuro"]["version"] == jn.__version__
    net = jn.build(of, 1, 0.1)
    built = jn.citations(net)  # with the rule that drew its connections
    assert {work.key for work in built} == set(found) | {work.key for work in built_by(net)}
    assert jn.citations(jn.simulate(net, 1.0)) == built
    assert jn.citations(net.set("E->E", gain=2.0)) == built


def built_by(net):
    """What is cited of a network of which nothing more is known, as one of another process."""
    elsewhere = dataclasses.replace(net, fingerprint=net.fingerprint + np.uint32(1))
    found = jn.citations(elsewhere)
    assert "senk2022" not in {work.key for work in found}
    return found


def test_a_model_of_your_own():
    class Own(jn.neurons.LIF):
        """Mine.

        Reference:
            Poe and van Dyke (1999), On ravens & crows, J. Birds 3, 12-14; the same (1999),
            Others, doi:10.1/x_y(2).
        """

    one, two = (work for work in jn.citations(Own()) if "Own" in work.of)
    assert (one.key, two.key) == ("poe1999a", "poe1999b")
    assert one.fields["title"] == r"On ravens \& crows"
    assert one.fields["journal"] == "J. Birds"
    assert one.fields["pages"] == "12-14"
    assert two.fields["doi"] == "10.1/x_y(2)"
    assert all(work.fields["author"] == "Poe and van Dyke" for work in (one, two))


@pytest.mark.parametrize(
    ("text", "author"),
    [
        ("Müller, Ørsted and O'Brien (2020)", "Müller and Ørsted and O'Brien"),
        ("Smith, A. and Jones, B. C. (2020a)", "Smith, A. and Jones, B. C."),
        (
            "Poincaré, van der Pol, and El Boustani et al. (1926)",
            "Poincaré and van der Pol and El Boustani and others",
        ),
    ],
)
def test_names_of_authors(text, author):
    class Own(jn.neurons.LIF):
        __doc__ = f"Mine.\n\n    References:\n        {text}, A {{title.\n"

    (mine,) = (work for work in jn.citations(Own()) if "Own" in work.of)
    assert mine.fields["author"] == author
    assert entries(str(jn.citations(Own())))[mine.key]["title"] == "{A (title}"


def test_a_block_without_a_work_is_said():
    class Own(jn.neurons.LIF):
        """Mine.

        Reference:
            J. Smith & A. B. Jones, 2021.
        """

    with pytest.warns(UserWarning, match="no work is found in the Reference: of Own"):
        jn.citations(Own())


@pytest.mark.parametrize("value", [3, jn.neurons.LIF, "net.json"], ids=repr)
def test_what_has_no_models(value):
    with pytest.raises(jn.InvalidValueError) as refused:
        jn.citations(value)
    assert (refused.value.owner, refused.value.field) == ("citations", "network")
