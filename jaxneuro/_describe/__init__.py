"""What a user writes: populations, projections, stimulations, as plain immutable values."""

from .coupling import Coupling as Coupling
from .description import Description as Description
from .estimate import Estimate as Estimate
from .estimate import ProjectionEstimate as ProjectionEstimate
from .estimate import estimate as estimate
from .modulator import Modulator as Modulator
from .part import Neurons as Neurons
from .part import Part as Part
from .part import as_part as as_part
from .part import count as count
from .population import Population as Population
from .projection import Projection as Projection
from .resolve import ResolvedProjection as ResolvedProjection
from .resolve import Resolver as Resolver
from .stimulation import Stimulation as Stimulation
from .stimulation import check_one_per_neuron as check_one_per_neuron
from .values import extremes as extremes
from .values import is_computed as is_computed
from .values import is_individual as is_individual

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
    "extremes",
    "is_computed",
    "is_individual",
]
