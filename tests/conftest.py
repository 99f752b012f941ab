"""The strict configuration of every test."""

import os

import hypothesis
import jax
import pytest

# JAX reads the flags when its backend is first used, which importing it is not.
_DEVICES = "--xla_force_host_platform_device_count"
if _DEVICES not in os.environ.get("XLA_FLAGS", ""):
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_DEVICES}=8".strip()

# Tests run in parallel processes: one thread each, but where a test asks for more.
os.environ.setdefault("JAXNEURO_THREADS", "1")

jax.config.update("jax_numpy_dtype_promotion", "strict")

hypothesis.settings.register_profile(
    "jaxneuro",
    deadline=None,
    derandomize=True,
    max_examples=30,
    suppress_health_check=[
        hypothesis.HealthCheck.too_slow,
        hypothesis.HealthCheck.function_scoped_fixture,
    ],
)
hypothesis.settings.load_profile("jaxneuro")


@pytest.fixture
def x64():
    """64-bit JAX for one test."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)
