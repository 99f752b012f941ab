"""Builds a network from a description: all that `build` does."""

from ._build import build as build
from ._check_apart import check_apart as check_apart
from ._check_neuron import check_neuron as check_neuron
from ._check_release import never_spikes_at_all as never_spikes_at_all
from ._memory import available_memory as available_memory

__all__ = ["available_memory", "build", "check_apart", "check_neuron", "never_spikes_at_all"]
