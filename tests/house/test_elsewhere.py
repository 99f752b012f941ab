"""`jn.LIF` and other names that are somewhere else: the error says where."""

import pytest

import jaxneuro as jn
from tests.house.test_import import python


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("LIF", r"there is no jn\.LIF; did you mean jn\.neurons\.LIF\?"),
        ("Exponential", r"jn\.space\.Exponential or jn\.synapses\.Exponential\?"),
        ("simulte", r"did you mean jn\.simulate\?"),
        ("plots", r"did you mean jn\.plot\?"),
        ("sweeps", r"did you mean jn\.sweep\?"),
        ("PairSTDP", r"did you mean jn\.plasticity\.PairSTDP\?"),
        ("run", r"use jn\.simulate\("),
        ("load", r"use jn\.Result\.load\(path\)"),
        ("qqq", r"there is no jn\.qqq; dir\(jn\) lists"),
        ("__wrapped__", "module 'jaxneuro' has no attribute '__wrapped__'"),
    ],
)
def test_a_name_that_is_elsewhere(name, said):
    with pytest.raises(AttributeError, match=said) as caught:
        getattr(jn, name)
    assert caught.value.name == name
    assert not hasattr(jn, name)


def test_nothing_is_loaded_for_what_is_there():
    lines = (
        "import jaxneuro as jn, sys; before = set(sys.modules)",
        "hasattr(jn, 'LIF'); hasattr(jn, '__wrapped__')",
        "print(*sorted(set(sys.modules) - before))",
    )
    assert python("-c", "\n".join(lines)).split() == ["jaxneuro._elsewhere"]
