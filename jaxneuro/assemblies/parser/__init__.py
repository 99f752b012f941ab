"""A parser of sentences by assemblies: grammars as values, and `parse`."""

from . import english as english
from . import russian as russian
from ._grammar import Branch as Branch
from ._grammar import Grammar as Grammar
from ._grammar import Phase as Phase
from ._grammar import Rule as Rule
from ._grammar import Word as Word
from ._grammar import closes as closes
from ._grammar import forgets as forgets
from ._grammar import opens as opens
from ._parse import Arc as Arc
from ._parse import Dependency as Dependency
from ._parse import Parse as Parse
from ._parse import parse as parse

__all__ = [
    "Arc",
    "Branch",
    "Dependency",
    "Grammar",
    "Parse",
    "Phase",
    "Rule",
    "Word",
    "closes",
    "english",
    "forgets",
    "opens",
    "parse",
    "russian",
]
