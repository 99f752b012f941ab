"""Areas that never fired: what is read of them says so."""

import jax
import numpy as np
import pytest

from jaxneuro import assemblies as ac
from tests.refusing import assert_refused

AREAS = [ac.Area("A", 30, 4), ac.Area("B", 30, 4)]
FIBRES = [ac.Fibre("S", "A"), ac.Fibre("A", "B")]
BRAIN = ac.Brain(AREAS, [ac.Stimulus("S", 9)], FIBRES, p=0.1, rounds=8)
STATE = BRAIN.with_cap(BRAIN.init(0), "A", np.arange(4))
NOBODY = np.full(4, -1)


@pytest.mark.slow
def test_projecting_nobody_is_warned_of():
    looped = ac.Brain(AREAS, [], [ac.Fibre("A", "A"), FIBRES[1]], p=0.1, rounds=8)
    with pytest.warns(UserWarning, match="project: nobody fires in 'A', .*with_cap"):
        ac.project(looped, looped.init(0), "A", "B", 2)
    with pytest.warns(UserWarning, match="pattern_complete: nobody fires in 'A'"):
        ac.pattern_complete(looped, looped.init(0), "A", 0)
    jax.eval_shape(lambda state: ac.project(looped, state, "A", "B", 2), looped.init(0))
    ac.project(looped, looped.with_cap(looped.init(0), "A", [3]), "A", "B", 2)


@pytest.mark.slow
def test_a_cap_of_nobody_is_an_empty_list():
    state = BRAIN.with_cap(STATE, "A", [])
    assert not (np.asarray(BRAIN.cap(state, "A")) >= 0).any()
    assert_refused(lambda: BRAIN.with_cap(STATE, "A", [1.5]), "area 'A'", "a cap", "float64")


@pytest.mark.slow
def test_the_report_and_the_state():
    text = ac.report(BRAIN, STATE).splitlines()
    assert [line.endswith("hashed, never fired") for line in text[2:4]] == [False, True]
    assert text[-1].endswith("-        -        -  nobody fires in B")
    cleared = ac.report(BRAIN, BRAIN.clear(STATE, "A")).splitlines()
    assert cleared[2].endswith("hashed, no cap")
    assert "(never fired: B)" in repr(STATE._replace(round=np.int32(3)))
    assert "never" not in repr(STATE)  # before the first round


@pytest.mark.slow
def test_measures_of_nobody_warn():
    for a, b in ((NOBODY, np.arange(4)), (np.arange(4), NOBODY)):
        with pytest.warns(UserWarning, match="overlap: a cap is nobody.*brain.fired") as w:
            assert ac.overlap(a, b) == 0.0
        assert w[0].filename == __file__
    with pytest.warns(UserWarning, match="nobody fires in 'B'.*no synapse of A->B"):
        assert ac.statistics(BRAIN, STATE, "A->B").density == 0.0
    with pytest.warns(UserWarning, match=r"assembly 1 \(all -1\)"):
        ac.overlaps(np.arange(4), np.stack([np.arange(4), NOBODY]), 30)
    with pytest.warns(UserWarning, match="nobody fires in any cap"):
        ac.overlaps(NOBODY, np.arange(4)[None], 30)


def test_nobody_is_in_no_class():
    caps = np.stack([NOBODY, np.array([7, 8, 9, -1])])
    assert ac.common_neurons(caps, 3, 30).tolist() == [7, 8, 9]
