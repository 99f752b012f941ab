"""Neuron models, one file each."""

from ._lif import LIF as LIF
from ._lif import LIFState as LIFState
