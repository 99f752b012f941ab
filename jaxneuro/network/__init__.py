"""Networks: the description that a person writes and the network that a machine runs."""

from ._build import build as build
from ._check_neuron import check_neuron as check_neuron
from ._connections import Connections as Connections
from ._description import Description as Description
from ._estimate import Estimate as Estimate
from ._estimate import ProjectionEstimate as ProjectionEstimate
from ._group import initial_state as initial_state
from ._network import Network as Network
from ._part import Part as Part
from ._population import Population as Population
from ._projection import Projection as Projection
from ._state import NetworkState as NetworkState
from ._state import Output as Output
from ._stimulation import Stimulation as Stimulation
