"""Assembly calculus: areas of neurons of which the k with the largest input fire."""

from ._soft_cap import assembly_loss as assembly_loss
from ._soft_cap import soft_cap as soft_cap
from ._soft_cap import straight_through_cap as straight_through_cap
