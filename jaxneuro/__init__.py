"""Spiking networks as pure functions over immutable pytrees."""

from . import analysis as analysis
from . import channels as channels
from . import connectivity as connectivity
from . import integrators as integrators
from . import io as io
from . import kernels as kernels
from . import network as network
from . import neurons as neurons
from . import numerics as numerics
from . import plot as plot
from . import release as release
from . import simulation as simulation
from . import space as space
from . import stimuli as stimuli
from . import synapses as synapses
from ._fields import Model as Model
from ._fields import Parameter as Parameter
from ._fields import param as param
from ._fields import static as static
from ._fields import table as table
from ._types import Drive as Drive
from ._types import Neuron as Neuron
from ._types import Release as Release
from ._types import SpikeStimulus as SpikeStimulus
from ._types import Stimulus as Stimulus
from ._types import StochasticNeuron as StochasticNeuron
from ._types import Synapse as Synapse
from .kernels import configure_cpu as configure_cpu
from .network import Description as Description
from .network import Network as Network
from .network import Part as Part
from .network import Population as Population
from .network import Projection as Projection
from .network import Stimulation as Stimulation
from .network import build as build
from .numerics import LogNormal as LogNormal
from .numerics import Normal as Normal
from .numerics import Uniform as Uniform
from .numerics import threshold as threshold
from .simulation import NonFiniteError as NonFiniteError
from .simulation import Record as Record
from .simulation import Result as Result
from .simulation import scan as scan
from .simulation import simulate as simulate

__version__ = "0.1.0"
