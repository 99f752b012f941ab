"""Spiking networks as pure functions over immutable pytrees."""

import importlib
from typing import TYPE_CHECKING, Any

from . import analysis as analysis
from . import channels as channels
from . import connectivity as connectivity
from . import construction as construction
from . import description as description
from . import integrators as integrators
from . import kernels as kernels
from . import mesh as mesh
from . import network as network
from . import neurons as neurons
from . import numerics as numerics
from . import release as release
from . import simulation as simulation
from . import space as space
from . import stimuli as stimuli
from . import synapses as synapses
from . import tables as tables
from ._fields import Model as Model
from ._fields import Parameter as Parameter
from ._fields import param as param
from ._fields import static as static
from ._fields import table as table
from ._help import add_hints as _add_hints
from ._types import Drive as Drive
from ._types import Neuron as Neuron
from ._types import Plasticity as Plasticity
from ._types import Release as Release
from ._types import SpikeStimulus as SpikeStimulus
from ._types import Stimulus as Stimulus
from ._types import StochasticNeuron as StochasticNeuron
from ._types import StochasticRelease as StochasticRelease
from ._types import Synapse as Synapse
from ._types import Trace as Trace
from .construction import build as build
from .description import Coupling as Coupling
from .description import Description as Description
from .description import Modulator as Modulator
from .description import Part as Part
from .description import Population as Population
from .description import Projection as Projection
from .description import Stimulation as Stimulation
from .kernels import configure_cpu as configure_cpu
from .network import Network as Network
from .network import rewire as rewire
from .numerics import LogNormal as LogNormal
from .numerics import Normal as Normal
from .numerics import Uniform as Uniform
from .numerics import threshold as threshold
from .simulation import Interrupted as Interrupted
from .simulation import LostProcessError as LostProcessError
from .simulation import NonFiniteError as NonFiniteError
from .simulation import Record as Record
from .simulation import Result as Result
from .simulation import scan as scan
from .simulation import simulate as simulate

if TYPE_CHECKING:
    from . import assemblies as assemblies
    from . import io as io
    from . import parallel as parallel
    from . import plasticity as plasticity
    from . import plot as plot
    from .parallel import SweepResult as SweepResult
    from .parallel import sweep as sweep

__version__ = "0.2.0"

__all__ = [
    "Coupling",
    "Description",
    "Drive",
    "Interrupted",
    "LogNormal",
    "LostProcessError",
    "Model",
    "Modulator",
    "Network",
    "Neuron",
    "NonFiniteError",
    "Normal",
    "Parameter",
    "Part",
    "Plasticity",
    "Population",
    "Projection",
    "Record",
    "Release",
    "Result",
    "SpikeStimulus",
    "Stimulation",
    "Stimulus",
    "StochasticNeuron",
    "StochasticRelease",
    "SweepResult",
    "Synapse",
    "Trace",
    "Uniform",
    "__version__",
    "analysis",
    "assemblies",
    "build",
    "channels",
    "configure_cpu",
    "connectivity",
    "construction",
    "description",
    "integrators",
    "io",
    "kernels",
    "mesh",
    "network",
    "neurons",
    "numerics",
    "parallel",
    "param",
    "plasticity",
    "plot",
    "release",
    "rewire",
    "scan",
    "simulate",
    "simulation",
    "space",
    "static",
    "stimuli",
    "sweep",
    "synapses",
    "table",
    "tables",
    "threshold",
]

# Loaded when they are first used: a script that builds and runs a network needs none of them.
_LATER = {name: name for name in ("assemblies", "io", "parallel", "plasticity", "plot")}
_LATER |= {"SweepResult": "parallel", "sweep": "parallel"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        from ._elsewhere import nothing_named

        raise AttributeError(nothing_named(name, __name__, _LATER), name=name)
    module = importlib.import_module(f".{_LATER[name]}", __name__)
    return module if _LATER[name] == name else getattr(module, name)


def __dir__() -> list[str]:
    """What `__all__` names: not what this file needs for itself."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


for _module in (
    analysis,
    channels,
    connectivity,
    construction,
    description,
    integrators,
    kernels,
    mesh,
    network,
    neurons,
    numerics,
    release,
    simulation,
    space,
    stimuli,
    synapses,
    tables,
):
    _add_hints(_module.__name__)
