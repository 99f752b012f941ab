"""Tables of connections: made from bundles, and read back."""

from jaxneuro._tables.bundles import Bundle as Bundle
from jaxneuro._tables.bundles import DrawTables as DrawTables
from jaxneuro._tables.bundles import ListedBundle as ListedBundle
from jaxneuro._tables.bundles import Piece as Piece
from jaxneuro._tables.bundles import Placement as Placement
from jaxneuro._tables.bundles import RedrawnBundle as RedrawnBundle
from jaxneuro._tables.bundles import StoredBundle as StoredBundle
from jaxneuro._tables.lay_out import delay_dtype as delay_dtype
from jaxneuro._tables.lay_out import lay_out as lay_out
from jaxneuro._tables.read import Synapses as Synapses
from jaxneuro._tables.read import read_bundle as read_bundle
from jaxneuro._tables.split import Homes as Homes
from jaxneuro._tables.split import Part as Part
from jaxneuro._tables.split import gather_arrays as gather_arrays
from jaxneuro._tables.split import padded as padded
from jaxneuro._tables.split import split as split
from jaxneuro._tables.split import table_arrays as table_arrays
from jaxneuro._tables.split import with_nothing as with_nothing

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
