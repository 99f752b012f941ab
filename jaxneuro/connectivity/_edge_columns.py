"""The columns of a list of edges: from a frame, from arrays, or from a CSV or parquet file."""

import contextlib
import csv
import gzip
import importlib
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._checks import unknown
from .._whole_file import NoSuchFileError

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


class Source:
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
            raise ValueError(
                "Explicit.from_edges: edges must be a pandas DataFrame, a mapping of arrays, or "
                f"the path of a CSV or parquet file; got {type(edges).__name__}"
            )

    def sides(self, pre: Any, post: Any, named: bool) -> tuple[Any, Any]:
        """The columns of sources and of targets: those given, or the first of the usual pairs."""
        if (pre is None) != (post is None):
            raise ValueError(
                "Explicit.from_edges: pre and post must both name a column, or neither; got "
                f"pre={pre!r}, post={post!r}"
            )
        if pre is not None:
            return self._known(pre), self._known(post)
        known = {str(name).lower(): name for name in reversed(self.columns)}
        for a, b in _IDS + _PLAIN + _INDICES if named else _INDICES + _PLAIN + _IDS:
            if a in known and b in known:
                return known[a], known[b]
        raise ValueError(
            "Explicit.from_edges: the columns of sources and targets must have usual names, such "
            f"as pre and post, or be named by pre= and post=; got the columns {self.columns}"
            f"{'; ' * bool(self._hint())}{self._hint()}"
        )

    def weights(self, weight: Any) -> Any:
        """The column of the weights: the one given, the first of the usual ones, or None."""
        if weight is not None:
            return self._known(weight)
        known = {str(name).lower(): name for name in reversed(self.columns)}
        return next((known[name] for name in _WEIGHTS if name in known), None)

    def _known(self, name: Any) -> Any:
        if name not in self.columns:
            hint = "; ".join(("", self._hint())) if self._hint() else ""
            raise unknown("column of edges", name, map(str, self.columns), hint)
        return name

    def _hint(self) -> str:
        """What is wrong with the first line of a file, if it is no list of columns."""
        first = [str(name) for name in self.columns] if self.own else []
        marks = [mark for mark in ("\t", ";", "|", ",", " ") if any(mark in x for x in first)]
        if len(first) == 1 and marks:
            return (
                f"the first line is one column with {marks[0]!r} in it: columns must be separated "
                "by commas in a .csv file, by tabs in a .tsv file"
            )
        if first and all(_is_number(x) for x in first):
            return (
                "the first line has numbers, and must have the names of the columns, such as "
                "pre,post,weight"
            )
        return ""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def read_first_column(path: Path) -> np.ndarray:
    """The first column of a CSV or parquet file."""
    columns, read = _of_file(path)
    return read(columns[:1])[0]


def _one_axis(name: Any, values: Any) -> np.ndarray:
    x = np.asarray(values)
    if x.ndim != 1:
        raise ValueError(
            f"Explicit.from_edges: the column {name!r} must have one axis; got shape {x.shape}"
        )
    return x


def _of_file(path: Path) -> tuple[list[Any], Any]:
    """The columns of a file and a function that reads some of them."""
    if not path.is_file():
        raise NoSuchFileError(f"Explicit.from_edges: there must be a file {path}; there is none")
    kind = "".join(s for s in path.suffixes if s != ".gz").lower()[-8:]
    if kind.endswith((".parquet", ".pq")):
        return _of_parquet(path)
    if kind.endswith((".csv", ".tsv")):
        return _of_text(path, "\t" if kind.endswith(".tsv") else ",")
    raise ValueError(
        "Explicit.from_edges: a file of edges must end in .csv, .tsv, .csv.gz, .parquet or .pq; "
        f"got {path.name}. Read another one first, and give its columns"
    )


def _of_parquet(path: Path) -> tuple[list[Any], Any]:
    parquet = _optional("pyarrow.parquet")
    if parquet is None:
        raise ImportError(
            "a parquet file needs pyarrow; install it with: pip install 'jaxneuro[frames]'"
        )
    file = parquet.ParquetFile(path)

    def read(names: list[Any]) -> list[np.ndarray]:
        once = list(dict.fromkeys(names))
        arrays = _by_row_groups(file, once)
        if arrays is None:
            table = file.read(columns=once)
            arrays = {name: table.column(name).to_numpy() for name in once}
        return [arrays[name] for name in names]

    return list(file.schema_arrow.names), read


def _by_row_groups(file: Any, names: list[Any]) -> dict[Any, np.ndarray] | None:
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
    return arrays or None


def _of_text(path: Path, mark: str) -> tuple[list[Any], Any]:
    """By pandas, which is several times faster, or by NumPy."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8-sig") as file:
        header = file.readline().rstrip("\r\n")
    if not header:
        raise ValueError(
            f"Explicit.from_edges: a file must begin with the names of its columns; {path} does not"
        )
    columns = [name.strip() for name in next(csv.reader([header], **_reading(mark)))]
    pandas = _optional("pandas")

    def read(names: list[Any]) -> list[np.ndarray]:
        at = [columns.index(name) for name in names]
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


def _reading(mark: str) -> dict[str, Any]:
    return {"delimiter": mark, "skipinitialspace": mark != "\t"}


def _stripped(x: np.ndarray) -> np.ndarray:
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


def _column(path: Path, mark: str, i: int) -> np.ndarray:
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
