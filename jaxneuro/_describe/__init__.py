"""What a user writes: populations, projections, stimulations, as plain immutable values."""

from ._coupling import Coupling as Coupling
from ._description import Description as Description
from ._estimate import Estimate as Estimate
from ._estimate import ProjectionEstimate as ProjectionEstimate
from ._estimate import estimate as estimate
from ._modulator import Modulator as Modulator
from ._part import Part as Part
from ._part import as_part as as_part
from ._population import Population as Population
from ._population import sizes as sizes
from ._projection import Projection as Projection
from ._projection import is_computed as is_computed
from ._projection import is_individual as is_individual
from ._resolve import Neurons as Neurons
from ._resolve import ResolvedProjection as ResolvedProjection
from ._resolve import Resolver as Resolver
from ._resolve import count as count
from ._stimulation import Stimulation as Stimulation
from ._stimulation import check_one_per_neuron as check_one_per_neuron

__all__ = [
    "Coupling",
    "Description",
    "Estimate",
    "Modulator",
    "Neurons",
    "Part",
    "Population",
    "Projection",
    "ProjectionEstimate",
    "ResolvedProjection",
    "Resolver",
    "Stimulation",
    "as_part",
    "check_one_per_neuron",
    "count",
    "estimate",
    "is_computed",
    "is_individual",
    "sizes",
]
