"""Release models: what a source neuron hands to its synapses in a step."""

from ._spikes import Spikes as Spikes
from ._spikes import SpikesState as SpikesState
