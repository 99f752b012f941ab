"""A damaged network file is a description or a `ValueError` that names a line, never anything else;
another one is read, or refused by a `ValueError` or an `OSError`."""

import copy
import json
import random
import re
import warnings

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import jaxneuro as jn
from jaxneuro.io import format_description, parse_description
from scripts import fuzz_readers
from tests.io.files import JSON, TOML, everything

TEXTS = {
    "json": (JSON, format_description(everything(), "json")),
    "toml": (TOML, format_description(everything(), "toml")),
}
PIECES = [
    *('"', "'", "{", "}", "[", "]", ",", ":", "=", "\n", "\\", "#", "\x00", "\ud800", "é", "0"),
    *("null", "true", "-", ".", "e9", "1e400", "NaN", "Infinity", "inf", "[[", "]]", '"""', "'''"),
    *('"type"', '"LIF"', '{"type": "Normal"}', "[]", "{}", "[[[", '"\\ud800"', "9" * 30, "9" * 500),
]
edits = st.tuples(
    st.sampled_from(["cut", "insert", "replace", "repeat", "end"]),
    st.floats(0, 1),
    st.integers(1, 30),
    st.sampled_from(PIECES) | st.text(max_size=3),
)


def edited(text, edit):
    kind, where, length, piece = edit
    at = int(where * len(text))
    before, part, after = text[:at], text[at : at + length], text[at + length :]
    made = {
        "cut": before + after,
        "insert": before + piece + part + after,
        "replace": before + piece + after,
        "repeat": before + part + part + after,
        "end": before,
    }
    return made[kind]


def check(text, format):
    """Reads a text; returns whether it was good."""
    try:
        assert isinstance(parse_description(text, format), jn.Description)
        return True
    except ValueError as error:
        caught = error
    assert type(caught) is ValueError
    begin = re.match(r"text, line ([1-9]\d*): \S", str(caught))
    assert begin, caught
    assert int(begin[1]) <= text.count("\n") + 1
    return False


@pytest.mark.slow
@pytest.mark.parametrize("format", TEXTS)
@settings(max_examples=400)
@given(which=st.integers(0, 1), changes=st.lists(edits, min_size=1, max_size=3))
def test_damaged_text(format, which, changes):
    text = TEXTS[format][which]
    for change in changes:
        text = edited(text, change)
    check(text, format)


@pytest.mark.parametrize("format", TEXTS)
def test_every_truncation(format):
    text = TEXTS[format][0]
    assert check(text, format)
    good = [n for n in range(len(text.rstrip())) if check(text[:n], format)]
    if format == "json":
        assert good == []
    else:  # a shorter network may be whole: TOML has no end
        assert 0 < len(good) < len(text) / 4


def places(data, path=()):
    """The paths of all values in some data."""
    yield path
    items = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else ()
    )
    for key, value in items:
        yield from places(value, (*path, key))


DATA = [json.loads(text) for text in TEXTS["json"]]
PATHS = [list(places(data))[1:] for data in DATA]
MODELS = [
    "LIF",
    "Normal",
    "Grid",
    "Free",
    "Steps",
    "Gaussian",
    "FixedIndegree",
    "Explicit",
    "Delta",
]
leaves = (
    st.none()
    | st.booleans()
    | st.integers(-3, 30)
    | st.sampled_from([2**31, 2**62, 2**63, 2**64, 10**400])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3)
    | st.sampled_from(["inf", "-inf", "E", "I", "left", *MODELS])
)
keys = st.sampled_from(["type", "tau_m", "p", "low", "high", "n", "population", "area", "start"])
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(keys, inner, max_size=4)
        | st.builds(
            lambda name, more: {"type": name, **more},
            st.sampled_from(MODELS),
            st.dictionaries(keys, inner, max_size=2),
        )
    ),
    max_leaves=6,
)


@pytest.mark.slow
@settings(max_examples=500)
@given(data=st.data())
def test_any_value_anywhere(data):
    which = data.draw(st.integers(0, 1))
    changed = copy.deepcopy(DATA[which])
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(PATHS[which]))
        holder = changed
        try:
            for key in path[:-1]:
                holder = holder[key]
            holder[path[-1]] = data.draw(values)
        except (LookupError, TypeError):
            continue  # the first change took the place of the second away
    check(json.dumps(changed, indent=data.draw(st.sampled_from([None, 1]))), "json")


@settings(max_examples=200)
@given(st.text() | st.binary().map(lambda x: x.decode("latin-1")))
def test_any_text(text):
    for format in TEXTS:
        assert not check(text, format)


@pytest.mark.slow(but=["npy", "csv"])
@pytest.mark.parametrize("reader", fuzz_readers.NAMES)
def test_every_reader_of_files(reader, tmp_path, monkeypatch):
    """`scripts/fuzz_readers.py` reads many more, with limits of time and memory."""
    if reader in ("hdf5", "parquet"):
        pytest.importorskip("h5py" if reader == "hdf5" else "pyarrow")
    monkeypatch.setenv("FUZZ_TRAP", str(tmp_path / "trap"))
    (tmp_path / "files").mkdir()
    readers = fuzz_readers.Readers(tmp_path / "files")
    make, read = readers.made(reader)
    outcomes = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(200):
            try:
                name = make(random.Random(number))
            except RecursionError:  # a tree that is too deep to be written
                name = None
            if name is not None:
                outcome, text = fuzz_readers.outcome_of(read, name, [False])
                # Annotations are looked at in tests alone.
                assert not text or outcome.startswith("TypeCheckError"), text
                outcomes.add(outcome)
            readers.restore()
    assert {"read", "refused"} <= outcomes
    assert not (tmp_path / "trap").exists()
