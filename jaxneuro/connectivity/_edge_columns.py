"""The columns of a list of edges: from a frame, from arrays, or from a CSV or parquet file."""

import contextlib
import csv
import gzip
import importlib
import re
import warnings
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Shaped

from .. import spec
from .._disk.whole import NoSuchFileError

OWNER = "Explicit.from_edges"
# Pairs of columns as programs and data sets call them, without regard to upper case. Where neurons
# are named, a column of ids comes before one of indices; where they are numbers, after it.
_IDS = [
    ("pre_root_id", "post_root_id"),
    ("pre_pt_root_id", "post_pt_root_id"),
    ("presynaptic_id", "postsynaptic_id"),
    ("pre_id", "post_id"),
    ("source_id", "target_id"),
    ("bodyid_pre", "bodyid_post"),
]
_PLAIN = [
    ("pre", "post"),
    ("source", "target"),
    ("presynaptic", "postsynaptic"),
    ("from", "to"),
    ("src", "dst"),
]
_INDICES = [
    ("presynaptic_index", "postsynaptic_index"),
    ("pre_index", "post_index"),
    ("source_index", "target_index"),
]
_WEIGHTS = ["weight", "weights", "excitatory x connectivity", "w", "syn_count", "connectivity"]


class EdgeSource:
    """A list of edges that can be read column by column: its `columns` and `read(names)`.

    What is read from a file is our `own`: nobody else has these arrays.
    """

    def __init__(self, edges: Any) -> None:
        self.own = isinstance(edges, str | Path)
        if isinstance(edges, str | Path):
            self.columns, self.read = _of_file(Path(edges))
        elif isinstance(edges, Mapping) or hasattr(edges, "columns"):
            self.columns = list(edges if isinstance(edges, Mapping) else edges.columns)
            self.read = lambda names: [_one_axis(name, edges[name]) for name in names]
        else:
            must = "a pandas DataFrame, a mapping of arrays, or the path of a CSV or parquet file"
            raise spec.InvalidValueError(OWNER, "edges", must, type(edges).__name__)

    def sides(self, pre: Any, post: Any, named: bool) -> tuple[Any, Any]:
        """The columns of sources and of targets: those given, or the first of the usual pairs."""
        if (pre is None) != (post is None):
            must = "names of columns, both or neither"
            raise spec.InvalidValueError(OWNER, "pre and post", must, f"{pre!r} and {post!r}")
        if pre is not None:
            return self._known(pre), self._known(post)
        known = {str(name).lower(): name for name in reversed(self.columns)}
        for a, b in _IDS + _PLAIN + _INDICES if named else _INDICES + _PLAIN + _IDS:
            if a in known and b in known:
                return known[a], known[b]
        raise spec.InvalidValueError(
            OWNER,
            "edges",
            "with usual names of columns, such as pre and post, or names by pre= and post="
            f"{self._separators()}",
            f"the columns {self.columns}",
        )

    def weights(self, weight: Any) -> Any:
        """The column of the weights: the one given, the first of the usual ones, or None."""
        if weight is not None:
            return self._known(weight)
        known = {str(name).lower(): name for name in reversed(self.columns)}
        return next((known[name] for name in _WEIGHTS if name in known), None)

    def _known(self, name: Any) -> Any:
        if name not in self.columns:
            raise spec.unknown("column of edges", name, map(str, self.columns))
        return name

    def _separators(self) -> str:
        """What the first line of a file must be."""
        if not self.own:
            return ""
        return " (the first line of a file; separated by commas in .csv, by tabs in .tsv)"


def read_first_column(path: Path) -> Shaped[np.ndarray, " rows"]:
    """The first column of a CSV or parquet file."""
    columns, read = _of_file(path, "neurons")
    return read(columns[:1])[0]


def _one_axis(name: Any, values: Any) -> Shaped[np.ndarray, " rows"]:
    x = np.asarray(values)
    if x.ndim != 1:
        raise spec.InvalidValueError(OWNER, f"column {name!r}", "one axis", f"shape {x.shape}")
    return x


# What those who read for us raise, beside a `ValueError` or an `OSError`, for a damaged file.
_BROKEN = (csv.Error, EOFError, zlib.error, MemoryError, OverflowError)  # text, compressed or not
_BROKEN += (TypeError, KeyError, IndexError, NotImplementedError)  # parquet


@contextlib.contextmanager
def _whole(path: Path, field: str) -> Iterator[None]:
    """Raises `InvalidValueError` for a file that cannot be read inside."""
    try:
        yield
    except UnicodeDecodeError as error:
        got = f"{path}, which has the byte 0x{error.object[error.start]:02x} ({error.reason})"
        hint = ". Save it again as UTF-8: Excel's 'Unicode text' is UTF-16"
        raise spec.InvalidValueError(OWNER, field, "text in UTF-8", got, hint) from error
    except Exception as error:
        # Errors of pyarrow are of no built-in kind, and those of pandas do not name the file.
        reader = type(error).__module__.partition(".")[0]
        if not isinstance(error, _BROKEN) and reader not in ("pyarrow", "pandas"):
            raise
        got = f"{path}, which cannot be read: {error!r}"
        raise spec.InvalidValueError(OWNER, field, "a whole file", got) from error


def _of_file(path: Path, field: str = "edges") -> tuple[list[Any], Any]:
    """The columns of a file, given as a field, and a function that reads some of them."""
    with _whole(path, field):
        columns, read = _opened(path, field)

    def read_whole(names: list[Any]) -> list[Shaped[np.ndarray, " rows"]]:
        with _whole(path, field):
            return read(names)

    return columns, read_whole


def _opened(path: Path, field: str) -> tuple[list[Any], Any]:
    if not path.is_file():
        raise NoSuchFileError(f"Explicit.from_edges: there must be a file {path}; there is none")
    kind = "".join(s for s in path.suffixes if s != ".gz").lower()[-8:]
    if kind.endswith((".parquet", ".pq")):
        return _of_parquet(path)
    if kind.endswith((".csv", ".tsv")):
        return _of_text(path, "\t" if kind.endswith(".tsv") else ",", field)
    must = "a file that ends in .csv, .tsv, .csv.gz, .parquet or .pq"
    raise spec.InvalidValueError(OWNER, "edges", must, path.name)


def _of_parquet(path: Path) -> tuple[list[Any], Any]:
    parquet = _optional("pyarrow.parquet")
    if parquet is None:
        raise ImportError(
            "a parquet file needs pyarrow; install it with: pip install 'jaxneuro[frames]'"
        )
    file = parquet.ParquetFile(path)

    def read(names: list[Any]) -> list[Shaped[np.ndarray, " rows"]]:
        once = list(dict.fromkeys(names))
        arrays = _by_row_groups(file, once)
        if arrays is None:
            table = file.read(columns=once)
            arrays = {name: table.column(name).to_numpy() for name in once}
        return [arrays[name] for name in names]

    return list(file.schema_arrow.names), read


def _by_row_groups(file: Any, names: list[Any]) -> dict[Any, Shaped[np.ndarray, " rows"]] | None:
    """Columns of numbers, read group by group into arrays; None for other columns.

    So the memory that pyarrow reads into is used again, and new memory costs more than reading.
    """
    arrays, at = {}, 0
    for number in range(file.metadata.num_row_groups):
        group = file.read_row_group(number, columns=names)
        for name in names:
            part = group.column(name).to_numpy()
            if part.dtype.kind not in "iuf":
                return None
            if name not in arrays:
                arrays[name] = np.empty(file.metadata.num_rows, part.dtype)
            mine = arrays[name]
            if mine.dtype != part.dtype:  # whole numbers of which one is missing are floating
                return None
            mine[at : at + part.size] = part
        at += group.num_rows
    if arrays and at != file.metadata.num_rows:
        must, got = f"{file.metadata.num_rows} rows, as it says", str(at)
        raise spec.InvalidValueError(OWNER, "the groups of the file", must, got)
    return arrays or None


def _of_text(path: Path, mark: str, field: str) -> tuple[list[Any], Any]:
    """By pandas, which is several times faster, or by NumPy."""
    with _text_of(path) as file:
        header = file.readline().rstrip("\r\n")
    if not header:
        must = "a file that begins with the names of its columns"
        raise spec.InvalidValueError(OWNER, "edges", must, f"{path}, which does not")
    columns = [name.strip() for name in next(csv.reader([header], **_reading(mark)))]
    pandas = _optional("pandas")

    def read(names: list[Any]) -> list[Shaped[np.ndarray, " rows"]]:
        at = [columns.index(name) for name in names]
        _check_widths(path, mark, len(columns), field)
        if pandas is None:
            return [_column(path, mark, i) for i in at]
        used = sorted(set(at))
        frame = pandas.read_csv(
            path,
            sep=mark,
            skipinitialspace=mark != "\t",
            usecols=used,
            na_values=_MISSING,
            keep_default_na=False,
            low_memory=False,  # one kind of number for the whole of a column
        )
        return [_stripped(frame.iloc[:, used.index(i)].to_numpy()) for i in at]

    return columns, read


def _text_of(path: Path) -> Any:
    return (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8-sig")


def _check_widths(path: Path, mark: str, width: int, field: str) -> None:
    """Raises `InvalidValueError` unless all rows have `width` fields, as many as the header.

    pandas shifts the columns of wider rows and fills shorter ones, without a word.
    """
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
        header = file.readline()
        if b"\r" not in header[:-2] and all(_is_even(x, mark, width) for x in _pieces(file)):
            return
    with _text_of(path) as file:
        rows = csv.reader(file, **_reading(mark))
        for row in rows:
            is_blank = not row or (len(row) == 1 and not row[0].strip(" "))
            if len(row) != width and not is_blank:
                raise _uneven(path, row, rows.line_num, width, field)


def _uneven(path: Path, row: list[str], line: int, width: int, field: str) -> ValueError:
    """The error for a row that is wider or shorter than the header."""
    got, hint = f"{len(row)} in line {line} of {path}", ""
    if len(row) > width:
        hint = (
            ". If R wrote row names, write with row.names=FALSE, or read the file with pandas and "
            "give the frame. If numbers have decimal commas, write points"
        )
    if len(row) == width + 1 and not row[-1]:
        hint = ". The line ends with a separator: delete it"
    must = f"a file whose rows have as many fields as its header, {width}"
    return spec.InvalidValueError(OWNER, field, must, got, hint)


_PIECE = 1 << 18  # bytes of a file, which a cache holds


def _pieces(file: Any) -> Iterator[bytes]:
    """What is left of a file in pieces of whole lines; a line longer than a piece is cut."""
    rest = b""
    while block := file.read(_PIECE):
        lines, newline, rest = (rest + block).rpartition(b"\n")
        yield lines + newline if newline else rest
    yield rest + b"\n"


def _is_even(lines: bytes, mark: str, width: int) -> bool:
    """Whether all lines that are not blank surely have `width` fields; False where in doubt.

    Looks at many lines at once. In doubt are lines that end with CR alone, and quotes around a
    separator: where every field has an even number of quotes, none hides a separator.

    Raises:
        UnicodeDecodeError: for bytes that are not UTF-8.
    """
    if not lines.endswith(b"\n") or (b"\r" in lines and b"\r" in lines.replace(b"\r\n", b"\n")):
        return False
    if not lines.isascii():
        lines.decode()
    row = (mark * (width - 1) + "\n").encode()
    others = bytes(set(range(256)) - set(f'{mark}\n"'.encode()))
    for _ in range(2):
        kept = lines.translate(None, others).replace(b'""', b"")
        if kept == row * (len(kept) // width):
            return True
        lines = re.sub(rb"(?m)^[ \r]*\n", b"", lines)  # blank lines
    return False


def _reading(mark: str) -> dict[str, Any]:
    return {"delimiter": mark, "skipinitialspace": mark != "\t"}


def _stripped(x: Shaped[np.ndarray, " rows"]) -> Shaped[np.ndarray, " rows"]:
    """Texts without the blanks around them, if the first ones have any; numbers as they are."""
    first = [v for v in x[:_TRIED].tolist() if isinstance(v, str)] if x.dtype.kind == "O" else []
    if all(v == v.strip() for v in first):
        return x
    out = np.empty(x.size, object)
    out[:] = [v.strip() if isinstance(v, str) else v for v in x.tolist()]
    return out


_TRIED = 1000  # texts of a column that are looked at for blanks

# What stands for a number or a name that is not there. "NA" may be the name of a neuron.
_MISSING = ["", "NaN", "nan", "<NA>", "NULL", "null"]


def _column(path: Path, mark: str, i: int) -> Shaped[np.ndarray, " rows"]:
    """A column of a text file by NumPy: whole numbers, or numbers, or texts."""
    options: dict[str, Any] = {"delimiter": mark, "usecols": i, "skiprows": 1, "ndmin": 1}
    options |= {"comments": None, "quotechar": '"', "encoding": "utf-8-sig"}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "loadtxt: input contained no data")
        for dtype in (np.int64, np.float64):
            with contextlib.suppress(ValueError):
                return np.loadtxt(path, dtype, **options)
        texts = np.char.strip(np.loadtxt(path, str, **options))
    missing = np.isin(texts, _MISSING)
    if missing.any():
        texts = texts.astype(object)
        texts[missing] = None
    return texts


def _optional(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
