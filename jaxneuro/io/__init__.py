"""Reads networks from JSON, TOML and SONATA files, and writes them."""

from ._models import list_models as list_models
from ._read import parse_description as parse_description
from ._read import read_description as read_description
from ._sonata import SonataNetwork as SonataNetwork
from ._sonata import SonataNodes as SonataNodes
from ._sonata import read_sonata as read_sonata
from ._sonata_write import write_sonata as write_sonata
from ._write import format_description as format_description
from ._write import write_description as write_description

__all__ = [
    "SonataNetwork",
    "SonataNodes",
    "format_description",
    "list_models",
    "parse_description",
    "read_description",
    "read_sonata",
    "write_description",
    "write_sonata",
]
