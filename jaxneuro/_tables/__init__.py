"""Tables of connections: made from bundles, and read back."""

from ._bundle import Bundle as Bundle
from ._bundle import Piece as Piece
from ._bundle import Placement as Placement
from ._bundle import RedrawnBundle as RedrawnBundle
from ._bundle import StoredBundle as StoredBundle
from ._draw_tables import DrawTables as DrawTables
from ._lay_out import delay_dtype as delay_dtype
from ._lay_out import lay_out as lay_out
from ._listed import ListedBundle as ListedBundle
from ._read import Synapses as Synapses
from ._read import read_bundle as read_bundle
from ._split import Homes as Homes
from ._split import Part as Part
from ._split import split as split
from ._stack import gather_arrays as gather_arrays
from ._stack import padded as padded
from ._stack import table_arrays as table_arrays
from ._stack import with_nothing as with_nothing

__all__ = [
    "Bundle",
    "DrawTables",
    "Homes",
    "ListedBundle",
    "Part",
    "Piece",
    "Placement",
    "RedrawnBundle",
    "StoredBundle",
    "Synapses",
    "delay_dtype",
    "gather_arrays",
    "lay_out",
    "padded",
    "read_bundle",
    "split",
    "table_arrays",
    "with_nothing",
]
