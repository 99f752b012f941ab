"""Connection rules: who connects to whom."""

from ._all_to_all import AllToAll as AllToAll
from ._block_probability import BlockProbability as BlockProbability
from ._distance_probability import DistanceProbability as DistanceProbability
from ._edges import Edges as Edges
from ._explicit import Explicit as Explicit
from ._fixed_indegree import FixedIndegree as FixedIndegree
from ._fixed_outdegree import FixedOutdegree as FixedOutdegree
from ._fixed_probability import FixedProbability as FixedProbability
from ._fixed_total import FixedTotal as FixedTotal
from ._one_to_one import OneToOne as OneToOne
from ._ranges import ranges as ranges
from ._rule import CHUNK as CHUNK
from ._rule import Chunk as Chunk
from ._rule import RowDraws as RowDraws
from ._rule import RowLaw as RowLaw
from ._rule import Rule as Rule
from ._symmetric_bernoulli import SymmetricBernoulli as SymmetricBernoulli

__all__ = [
    "CHUNK",
    "AllToAll",
    "BlockProbability",
    "Chunk",
    "DistanceProbability",
    "Edges",
    "Explicit",
    "FixedIndegree",
    "FixedOutdegree",
    "FixedProbability",
    "FixedTotal",
    "OneToOne",
    "RowDraws",
    "RowLaw",
    "Rule",
    "SymmetricBernoulli",
    "ranges",
]
