"""Reads a network from a file."""

import os
from pathlib import Path

from .. import spec
from .._describe.description import Description
from ._entry import located
from ._json import read_json
from ._network import description
from ._toml import read_toml

READERS = {"json": read_json, "toml": read_toml}


@spec.arguments(path=spec.FilePath(), max_mb=spec.Number(above=0.0))
def read_description(path: str | os.PathLike, *, max_mb: float = 64.0) -> Description:
    """The network in a file: JSON (`.json`) or TOML (`.toml`); see docs/network_files.md.

    A file can only name models of the package and give them numbers; reading it runs no code.

    Args:
        path: the file.
        max_mb: the largest file that is read, in MB.

    Raises:
        FileNotFoundError: for a missing file.
        ValueError: for anything else; the message begins with the name of the file and, for what is
            in it, the line.
    """
    path = Path(path)
    kind = format_of(path)
    text = _decoded(path.name, _content(path, max_mb))
    return description(READERS[kind](path.name, text))


@spec.arguments(format=spec.OneOf(*READERS))
def parse_description(text: str, format: str = "json") -> Description:
    """The network in a text with the format "json" or "toml"; see `read_description`.

    Raises:
        ValueError: the message begins with "text" and the line.
    """
    if not isinstance(text, str):
        raise ValueError(f"parse_description: the text must be a str; got {type(text).__name__}")
    return description(READERS[format]("text", text))


def format_of(path: Path) -> str:
    """The format of a file by its ending."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in READERS:
        raise ValueError(
            f"{path.name}: the name of a network file must end in .json or .toml; got "
            f"{path.suffix or 'no ending'!r}"
        )
    return kind


def _content(path: Path, max_mb: float) -> bytes:
    """The bytes of a file that is not too large."""
    most = int(max_mb * 1e6)
    if path.exists() and not path.is_file():
        raise located(path.name, 1, "this must be a file; got a folder or a device")
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            content = file.read(most + 1) if size <= most else b""
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: there is no such file") from None
    except OSError as error:
        raise located(path.name, 1, f"the file cannot be read: {error.strerror}") from None
    if max(size, len(content)) > most:
        raise located(
            path.name,
            1,
            f"the file must have at most {max_mb:g} MB; got {size / 1e6:.1f} MB. To read it, call "
            "read_description(path, max_mb=...)",
        )
    return content


def _decoded(name: str, content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise located(name, line, "the file must be text in UTF-8") from None
    if not text.strip():
        raise located(name, 1, "the file is empty")
    return text
