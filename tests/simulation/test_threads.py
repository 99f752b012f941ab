"""The number of threads changes no bit of a result."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = """
    import hashlib, sys
    import jaxneuro as jn
    jn.configure_cpu(threads=int(sys.argv[1]), xla_threads=int(sys.argv[1]))
    from jaxneuro._kernels.native import native_available
    from jaxneuro._kernels.threads import threads
    from tests.network.networks import balanced
    assert threads() == (int(sys.argv[1]) if native_available() else 1)
    made = balanced(n=20_000, p=0.03, weight=jn.Uniform(10.0, 30.0), delay=jn.Uniform(0.1, 2.0))
    result = jn.simulate(jn.build(made, 1, 0.1), 20.0, record=jn.Record(variables={"E": "v"}))
    digest = hashlib.sha256(result.traces["E"]["v"].tobytes())
    for name in "EI":
        for x in result.events(name):
            digest.update(x.tobytes())
    print(digest.hexdigest(), result.events("E")[0].size)
"""


def run(threads):
    env = {k: v for k, v in os.environ.items() if k not in ("XLA_FLAGS", "NPROC")}
    path = os.pathsep.join([str(ROOT), env.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), str(threads)],
        capture_output=True,
        text=True,
        env={**env, "PYTHONPATH": path},
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split()


@pytest.mark.slow
def test_threads_change_no_bit():
    one, two = run(1), run(2)
    assert one == two
    assert int(one[1]) > 1000
