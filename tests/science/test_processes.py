"""Networks of thousands of neurons give the same bits on 1, 2 and 4 processes.

Those of `test_devices`, each built over its mesh: no process has all connections. Four processes of
two devices each are a mesh of two axes.
"""

import re

import numpy as np
import pytest

import jaxneuro as jn
from tests.parallel.processes import finished, start
from tests.science.test_devices import NETWORKS, placed, seen

pytestmark = pytest.mark.science
PROGRAM = """
import sys
import jax
import numpy as np
from jax.sharding import Mesh
import jaxneuro as jn

address, processes, process, name, out = sys.argv[1:]
mesh, axis = jn.parallel.connect(address, int(processes), int(process)), None
if jax.local_device_count() > 1:
    mesh = Mesh(np.array(jax.devices()).reshape(int(processes), -1), ("hosts", "devices"))
    axis = ("hosts", "devices")
from tests.science.test_devices import NETWORKS, placed, seen  # makes arrays

description, ms = NETWORKS[name]
net = jn.build(placed(description), key=1, dt=0.1, mesh=mesh, axis=axis)
found = seen(net, ms)
share = sum(s.data.nbytes for p in net.pathways for s in p.table.targets.addressable_shards)
print("has", share / sum(p.table.targets.nbytes for p in net.pathways), "of the connections")
if process == "0":
    np.savez(out, **{" ".join(key): x for key, x in found.items()})
"""


@pytest.mark.parametrize("name", NETWORKS)
def test_same_bits_on_any_number_of_processes(name, tmp_path):
    description, ms = NETWORKS[name]
    one = seen(jn.build(placed(description), key=1, dt=0.1), ms)
    for processes, devices in ((1, 1), (2, 1), (4, 2 if name == "coba" else 1)):
        out = tmp_path / f"{processes}.npz"
        printed = finished(start(PROGRAM, processes, [name, out], devices), 600)
        assert out.exists(), printed
        for text in printed:
            share = float(re.search(r"^has (\S+) of", text, re.M)[1])  # XLA's warnings are beside
            np.testing.assert_allclose(share, 1 / processes)
        many = np.load(out)
        assert set(many.files) == {" ".join(key) for key in one}
        for key, x in one.items():
            np.testing.assert_array_equal(many[" ".join(key)], x, err_msg=f"{key} on {processes}")
