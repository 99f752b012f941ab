"""The versions of `deliver` as the tests call them.

A ring has an axis for receptors and one for targets, as the oracle's; what is released is packed
bits (uint8) or values.
"""

import functools

import jax.numpy as jnp

from jaxneuro._kernels import deliver as deliver_file
from jaxneuro._kernels import deliver_reference as deliver_reference_file
from jaxneuro._kernels.spike_output import SpikeOutput


def released_of(x):
    return SpikeOutput(x) if x.dtype == jnp.uint8 else SpikeOutput.of_values(x)


def _shaped(version):
    def run(ring, released, *rest):
        flat = ring.reshape(*ring.shape[:-2], ring.shape[-2] * ring.shape[-1])
        return version(flat, released_of(released), *rest).reshape(ring.shape)

    return run


deliver = _shaped(deliver_file.deliver)
deliver_reference = _shaped(deliver_reference_file.deliver_reference)


def deliver_pallas(ring, released, step, scale, weights, table, clear, **options):
    from jaxneuro._kernels import gpu_deliver

    version = functools.partial(gpu_deliver.deliver_pallas, **options)
    return _shaped(version)(ring, released, step, scale, weights, table, clear)
