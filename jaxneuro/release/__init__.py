"""Release models: what a source neuron passes to its synapses in a step."""

from ._graded import Graded as Graded
from ._graded import GradedState as GradedState
from ._spikes import Spikes as Spikes
from ._spikes import SpikesState as SpikesState
