"""The few operations where speed is decided: arrays in, arrays out."""

from ._deliver import deliver as deliver
from ._native import native_available as native_available
from ._pack import pack as pack
from ._pack import packed_bytes as packed_bytes
from ._table import BLOCK_TARGETS as BLOCK_TARGETS
from ._table import HAS_DELAYS as HAS_DELAYS
from ._table import HAS_TAGS as HAS_TAGS
from ._table import HAS_WEIGHTS as HAS_WEIGHTS
from ._table import ONE_PLACE as ONE_PLACE
from ._table import Section as Section
from ._table import Table as Table
from ._unpack import unpack as unpack
