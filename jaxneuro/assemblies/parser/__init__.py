"""A parser of sentences by assemblies: grammars as values, and `parse`."""

from . import english as english
from . import russian as russian
from ._grammar import Branch as Branch
from ._grammar import Grammar as Grammar
from ._parse import Parse as Parse
from ._parse import parse as parse
from ._readout import Arc as Arc
from ._readout import Dependency as Dependency
from ._rules import Phase as Phase
from ._rules import Rule as Rule
from ._rules import Word as Word
from ._rules import closes as closes
from ._rules import forgets as forgets
from ._rules import opens as opens

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
