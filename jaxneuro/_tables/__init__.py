"""Tables of connections: made from bundles, and read back."""

from jaxneuro._tables._bundle import Bundle as Bundle
from jaxneuro._tables._bundle import Piece as Piece
from jaxneuro._tables._bundle import Placement as Placement
from jaxneuro._tables._bundle import RedrawnBundle as RedrawnBundle
from jaxneuro._tables._bundle import StoredBundle as StoredBundle
from jaxneuro._tables._draw_tables import DrawTables as DrawTables
from jaxneuro._tables._lay_out import delay_dtype as delay_dtype
from jaxneuro._tables._lay_out import lay_out as lay_out
from jaxneuro._tables._listed import ListedBundle as ListedBundle
from jaxneuro._tables._read import Synapses as Synapses
from jaxneuro._tables._read import read_bundle as read_bundle
from jaxneuro._tables._split import Homes as Homes
from jaxneuro._tables._split import Part as Part
from jaxneuro._tables._split import split as split
from jaxneuro._tables._stack import gather_arrays as gather_arrays
from jaxneuro._tables._stack import padded as padded
from jaxneuro._tables._stack import table_arrays as table_arrays
from jaxneuro._tables._stack import with_nothing as with_nothing

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
