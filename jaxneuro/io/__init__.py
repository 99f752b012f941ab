"""Reads networks from JSON and TOML files, and writes them."""

from ._models import list_models as list_models
from ._read import parse_description as parse_description
from ._read import read_description as read_description
from ._write import format_description as format_description
from ._write import write_description as write_description

__all__ = [
    "format_description",
    "list_models",
    "parse_description",
    "read_description",
    "write_description",
]
