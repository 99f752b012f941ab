"""What to cite for a network: BibTeX from the `Reference:` blocks of its models' docstrings."""

import dataclasses
import inspect
import re
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import product
from string import ascii_lowercase
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from .._network.described import classes_in, left_of
from .._network.network import Network
from .._version import __version__
from .._warn import warn
from ..spec import InvalidValueError
from .result import Result

_BLOCK = re.compile(r"^References?:\n((?:    .*\n?|\n)*)", re.MULTILINE)
_BEFORE = r"(?:(?:[Vv]an|[Vv]on|[Dd]e[rnl]?|[Dd][aiu]|[Ee]l|[Ll][ae]|ter?) )*"  # a family name
_NAME = rf"{_BEFORE}(?![a-z])[^\W\d_][\w'-]*(?![A-Z\d_])\w(?:, (?:[A-Z]\.[ -]?)+(?<! ))?"
_AUTHORS = rf"{_NAME}(?:(?:, (?:and )?| and ){_NAME})*(?: et al\.)?"
_WORK = re.compile(rf"({_AUTHORS}|the same) \(((?:18|19|20)\d\d)[a-z]?\)")
_DOI = re.compile(r"doi:(10\.\S+)")
_NUMBERS = {"isbn": re.compile(r"ISBN ([\dX-]+)"), "note": re.compile(r"(arXiv:\d+\.\d+)")}
_URL = re.compile(r"https://[^\s,;`]+")
_MODEL = re.compile(r'"[a-z][^"]*"')  # its name in the work
# What stands beside a title: places in the work, its numbers, and what was taken from it.
_ASIDE = re.compile(
    r"(?:as|the|with|without|for|on|which|where|in|and|eqs?|secs?|ch|chapter|appendix|p|benchmark|"
    r"ISBN|arXiv|https)\b|`|$"
)
_JOURNAL = re.compile(r"([A-Z].*?) (\d+)(?: \((\d+)\))?")


class Citation(NamedTuple):
    """One work; its text is a BibTeX entry.

    Attributes:
        key: of the entry, such as `brette2005`.
        kind: article where the journal is known, book where the ISBN is, else misc.
        fields: author, year, title, journal, doi, ... as far as docstrings have them.
        of: the classes that name the work.
    """

    key: str
    kind: str
    fields: Mapping[str, str]
    of: tuple[str, ...]

    def __str__(self) -> str:
        # Within two braces a title keeps its capitals.
        fields = {k: f"{{{x}}}" if k == "title" else x for k, x in self.fields.items()}
        lines = "".join(f"  {name} = {{{x}}},\n" for name, x in fields.items())
        return f"% {', '.join(self.of)}\n@{self.kind}{{{self.key},\n{lines}}}"


class Citations(tuple[Citation, ...]):
    """Works to cite, sorted by key; shown as a BibTeX file."""

    def __repr__(self) -> str:
        return "\n\n".join(map(str, self))


def citations(network: Any) -> Citations:
    """What to cite for a network: its models, rules and methods, and jaxneuro itself.

    The works are those in the `Reference:` blocks of the docstrings of all classes in the network,
    your own among them; an entry has what the docstring has. The text, `str` of it, is that of a
    `.bib` file.

    Args:
        network: a `Description`, a `Network`, a `Result`, a `Brain` or a single model. Of the rules
            that drew connections, of distributions and layouts, a `Network` has nothing: they are
            known of the last 4096 that this process has built, and else of the `Description`.

    Raises:
        InvalidValueError: for another value, and for a loaded result, which has no network.
    """
    found = network.network if isinstance(network, Result) else network
    if not dataclasses.is_dataclass(found) or isinstance(found, type):
        must = "a Description, a Network, a Brain, a model, or a Result that has its network"
        raise InvalidValueError("citations", "network", must, type(network).__name__)
    works: dict[Any, tuple[dict[str, str], set[str]]] = {}
    left = left_of(found.fingerprint) if isinstance(found, Network) else frozenset()
    for cls in sorted(classes_in(found) | left, key=lambda cls: cls.__qualname__):
        block = _reference(cls)
        found_in = list(_works(block))
        if block and not found_in:
            warn(
                f"citations: no work is found in the Reference: of {cls.__name__}; one is written "
                "as 'Name and Name (2007), Title, Journal 18, 2993, doi:...'"
            )
        for work in found_in:
            known, of = works.setdefault(_identity(work), ({}, set()))
            of.add(cls.__name__)
            for name, x in work.items():  # one docstring may have the title, another the doi alone
                known[name] = max(known.get(name, ""), x, key=len)
    about = "Spiking networks as pure functions over immutable pytrees, in JAX"
    ours = {"title": f"jaxneuro: {about}", "author": "{The jaxneuro authors}"}
    ours["version"] = __version__
    of_all = Citation("jaxneuro", "misc", ours, ("jaxneuro",))
    return Citations(sorted([of_all, *_named(works)], key=lambda work: work.key))


def _reference(cls: type) -> str:
    """The block of a class, or of the nearest class that it is made from."""
    docs = (inspect.cleandoc(c.__dict__.get("__doc__") or "") for c in cls.__mro__)
    return next((" ".join(m[1].split()) for m in map(_BLOCK.search, docs) if m), "")


def _works(text: str) -> Iterator[dict[str, str]]:
    """The works that a block names: authors and a year, or the address of a program."""
    found, authors = list(_WORK.finditer(text)), ""
    for match, end in zip(found, [*(m.start() for m in found[1:]), len(text)]):
        authors = authors if match[1] == "the same" else match[1]
        others = ["others"] if authors.endswith("et al.") else []
        persons = " and ".join([*re.findall(_NAME, authors.removesuffix(" et al.")), *others])
        yield {"author": persons, "year": match[2], **_details(text[match.end() : end])}
    for url in dict.fromkeys(x.rstrip(".") for x in _URL.findall(text)):
        yield {
            "title": _escaped(_program(url)),
            "howpublished": rf"\url{{{url}}}",
        }


def _program(url: str) -> str:
    """The last part of an address, or the first of its host where it has no path."""
    address = urlsplit(url)
    return address.path.rstrip("/").rsplit("/", 1)[-1] or address.netloc.split(".")[0]


def _details(text: str) -> dict[str, str]:
    """Title, journal and numbers from what follows the year of a work."""
    out = {}
    if doi := _DOI.search(text):
        out["doi"] = doi[1].rstrip(".,;:")
    out |= {name: m[1] for name, number in _NUMBERS.items() if (m := number.search(text))}
    before = re.split("; | doi:", _MODEL.sub("", text))[0].replace('"', "").strip(" .,;:")
    parts = [_escaped(x) for x in before.split(", ") if not _ASIDE.match(x)]
    pages = parts.pop() if parts and re.fullmatch(r"\d+(-\d+)?", parts[-1]) else ""
    if parts and (journal := _JOURNAL.fullmatch(parts[-1])):
        parts.pop()
        names = ("journal", "volume", "number", "pages")
        out |= {k: x for k, x in zip(names, (*journal.groups(), pages)) if x}
    return ({"title": ", ".join(parts)} if parts else {}) | out


def _escaped(text: str) -> str:
    """As BibTeX takes it, which counts braces even behind a backslash."""
    return re.sub(r"([&%#_$])", r"\\\1", text.replace("{", "(").replace("}", ")"))


def _identity(work: Mapping[str, str]) -> Any:
    numbers = [work[k] for k in ("doi", "isbn", "note", "howpublished") if k in work]
    return numbers[0].lower() if numbers else (work["author"], work["year"])


def _named(works: Mapping[Any, tuple[dict[str, str], set[str]]]) -> Iterator[Citation]:
    """The works as entries; a, b, ... follow the key where several have the same one."""
    keys: dict[str, list[Any]] = {}
    for identity, (fields, _) in sorted(works.items(), key=lambda item: str(item[0])):
        start = fields["author"].split(" and ")[0] if "author" in fields else fields["title"]
        plain = unicodedata.normalize("NFKD", start + fields.get("year", ""))
        keys.setdefault(re.sub(r"[^a-z0-9]", "", plain.lower()), []).append(identity)
    for key, those in keys.items():
        letters = ("".join(x) for n in (1, 2) for x in product(ascii_lowercase, repeat=n))
        for identity, letter in zip(those, letters if len(those) > 1 else [""]):
            fields, of = works[identity]
            kind = "article" if "journal" in fields else "book" if "isbn" in fields else "misc"
            yield Citation(key + letter, kind, fields, tuple(sorted(of)))
