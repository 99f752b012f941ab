"""Spiking networks as pure functions over immutable pytrees."""

import importlib
from typing import TYPE_CHECKING, Any

from . import analysis as analysis
from . import channels as channels
from . import connectivity as connectivity
from . import integrators as integrators
from . import neurons as neurons
from . import release as release
from . import space as space
from . import spec as spec
from . import stimuli as stimuli
from . import surrogates as surrogates
from . import synapses as synapses
from . import units as units
from ._build.build import build as build
from ._describe.coupling import Coupling as Coupling
from ._describe.description import Description as Description
from ._describe.modulator import Modulator as Modulator
from ._describe.part import Part as Part
from ._describe.population import Population as Population
from ._describe.projection import Projection as Projection
from ._describe.stimulation import Stimulation as Stimulation
from ._disk.folder import FolderInUseError as FolderInUseError
from ._fields import Parameter as Parameter
from ._fields import param as param
from ._fields import static as static
from ._fields import table as table
from ._kernels.cpu import configure_cpu as configure_cpu
from ._model import Drive as Drive
from ._model import Neuron as Neuron
from ._model import Plasticity as Plasticity
from ._model import Release as Release
from ._model import SpikeStimulus as SpikeStimulus
from ._model import Stimulus as Stimulus
from ._model import StochasticNeuron as StochasticNeuron
from ._model import StochasticRelease as StochasticRelease
from ._model import Synapse as Synapse
from ._model import Trace as Trace
from ._network.network import Network as Network
from ._network.rewire import rewire as rewire
from ._numerics.distributions import Distribution as Distribution
from ._numerics.distributions import LogNormal as LogNormal
from ._numerics.distributions import Normal as Normal
from ._numerics.distributions import Uniform as Uniform
from ._numerics.streams import Stream as Stream
from ._run.record import Record as Record
from ._run.recording import Recording as Recording
from ._run.result import Result as Result
from ._run.scan import scan as scan
from ._run.simulate import simulate as simulate
from ._run.spike_trains import SpikeTrains as SpikeTrains
from ._run.stopped import Interrupted as Interrupted
from ._run.stopped import LostProcessError as LostProcessError
from ._run.stopped import NonFiniteError as NonFiniteError
from ._version import __version__ as __version__
from .spec import InvalidValueError as InvalidValueError

if TYPE_CHECKING:
    from . import assemblies as assemblies
    from . import checkpoint as checkpoint
    from . import io as io
    from . import learning as learning
    from . import parallel as parallel
    from . import plasticity as plasticity
    from . import plot as plot
    from ._network.trainable import each as each
    from ._network.trainable import shared as shared
    from ._network.trainable import trainable as trainable
    from ._run.citations import citations as citations
    from .parallel import sweep as sweep

__all__ = [
    "Coupling",
    "Description",
    "Distribution",
    "Drive",
    "FolderInUseError",
    "Interrupted",
    "InvalidValueError",
    "LogNormal",
    "LostProcessError",
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
    "Recording",
    "Release",
    "Result",
    "SpikeStimulus",
    "SpikeTrains",
    "Stimulation",
    "Stimulus",
    "StochasticNeuron",
    "StochasticRelease",
    "Stream",
    "Synapse",
    "Trace",
    "Uniform",
    "__version__",
    "analysis",
    "assemblies",
    "build",
    "channels",
    "checkpoint",
    "citations",
    "configure_cpu",
    "connectivity",
    "each",
    "integrators",
    "io",
    "learning",
    "neurons",
    "parallel",
    "param",
    "plasticity",
    "plot",
    "release",
    "rewire",
    "scan",
    "shared",
    "simulate",
    "space",
    "spec",
    "static",
    "stimuli",
    "surrogates",
    "sweep",
    "synapses",
    "table",
    "trainable",
    "units",
]

# Loaded when they are first used: a script that builds and runs a network needs none of them.
_MODULES = ("assemblies", "checkpoint", "io", "learning", "parallel", "plasticity", "plot")
_LATER = {name: name for name in _MODULES}
_LATER |= {"sweep": "parallel", "citations": "_run.citations"}
_LATER |= dict.fromkeys(("each", "shared", "trainable"), "_network.trainable")


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        hint = "" if name.startswith("_") else "; docs/names.md lists the names of other simulators"
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}", name=name)
    module = importlib.import_module(f".{_LATER[name]}", __name__)
    return module if _LATER[name] == name else getattr(module, name)


def __dir__() -> list[str]:
    """What `__all__` names: not what this file needs for itself."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
