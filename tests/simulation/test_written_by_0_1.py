"""Files that version 0.1 wrote (8c94413) are read: networks, and results but for their states."""

from pathlib import Path

import numpy as np
import pytest

import jaxneuro as jn

FOLDER = Path(__file__).parents[1] / "written_by_0_1"
NETWORKS = [jn.io.read_description(FOLDER / f"network.{end}") for end in ("json", "toml")]


@pytest.mark.parametrize("description", NETWORKS, ids=["json", "toml"])
def test_a_network(description):
    net = jn.build(description, 1, 0.1)
    assert (net.n_neurons, net.n_synapses, net.n_couplings) == (25, 196, 8)
    assert net.names[:2] == ("E", "I")
    assert {"I->E", "noise", "I~I", "dopamine"} < set(net.names)


def test_a_result():
    result = jn.Result.load(FOLDER / "result.npz")
    assert result.populations == {"E": 20, "I": 5}
    assert result.duration == 50.0
    assert [result.events(name)[0].size for name in "EI"] == [53, 116]
    assert result.traces["E"]["v"].shape == (10, 20)
    assert result.weights["E->E"].shape == (10, 2)
    np.testing.assert_array_equal(result.function["step"], range(50, 501, 50))
    assert result.shared == {}
    with pytest.raises(ValueError, match="state must"):
        jn.simulate(jn.build(NETWORKS[0], 1, 0.1), 1.0, state=result, progress=False)
