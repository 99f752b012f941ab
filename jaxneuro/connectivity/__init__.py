"""Connection rules: who connects to whom."""

from ._blocks import BlockProbability as BlockProbability
from ._convolution import Convolution as Convolution
from ._degrees import FixedIndegree as FixedIndegree
from ._degrees import FixedOutdegree as FixedOutdegree
from ._distance import DistanceProbability as DistanceProbability
from ._edges import Edges as Edges
from ._given import AllToAll as AllToAll
from ._given import Explicit as Explicit
from ._given import OneToOne as OneToOne
from ._random import FixedProbability as FixedProbability
from ._random import FixedTotal as FixedTotal
from ._random import SymmetricBernoulli as SymmetricBernoulli
from ._rule import Chunk as Chunk
from ._rule import RowDraws as RowDraws
from ._rule import Rule as Rule

__all__ = [
    "AllToAll",
    "BlockProbability",
    "Chunk",
    "Convolution",
    "DistanceProbability",
    "Edges",
    "Explicit",
    "FixedIndegree",
    "FixedOutdegree",
    "FixedProbability",
    "FixedTotal",
    "OneToOne",
    "RowDraws",
    "Rule",
    "SymmetricBernoulli",
]
