"""Lists of edges: columns and files, names of neurons, repeated pairs, refusals."""

import csv
import gzip
import io

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.connectivity import Explicit, _edge_columns, _edges
from jaxneuro.connectivity._edges import pair_order
from tests.refusing import assert_refused

from .drawing import draw
from .test_columns import columns

pandas = pytest.importorskip("pandas")
PRE, POST, WEIGHT = [2, 0, 1, 2], [1, 1, 0, 0], [5.0, -2.0, 3.0, 7.0]
OWNER = "Explicit.from_edges"
PRE_COLUMN, WEIGHT_COLUMN = "neurons (column 'pre')", "weights (column 'weight')"
TABLE = {"pre": PRE, "post": POST, "weight": WEIGHT}
IDS = np.array([30, 10, 720575940660219265])  # above 2**53: floating numbers would lose it
NAMED = TABLE | {"pre": IDS[PRE], "post": IDS[POST]}


def listed(edges):
    return edges.rule.pre.tolist(), edges.rule.post.tolist(), np.asarray(edges.weight).tolist()


def read(table, **options):
    return Explicit.from_edges(table, **options)


@pytest.mark.parametrize(
    "make", [dict, pandas.DataFrame, lambda t: pandas.DataFrame(t, list("abcd"))]
)
def test_columns_become_a_rule_and_weights_in_their_order(make):
    edges = read(make(TABLE))
    assert listed(edges) == (PRE, POST, WEIGHT)
    assert edges.neurons.tolist() == [0, 1, 2]
    assert edges.n == 3
    assert edges.rule.shape is None  # the population may be larger
    assert read(make({"pre": PRE, "post": POST})).weight is None


@pytest.mark.parametrize(
    "names",
    [
        ("source", "target", "w"),
        ("Presynaptic_Index", "Postsynaptic_Index", "Excitatory x Connectivity"),
        ("pre_root_id", "post_root_id", "syn_count"),
        ("from", "to", "Weights"),
    ],
)
def test_usual_names_of_columns(names):
    table = dict(zip(names, TABLE.values()))
    assert listed(read(table)) == (PRE, POST, WEIGHT)
    others = {"x": POST, "y": PRE, "z": [1, 1, 1, 1]}
    chosen = read(table | others, pre="x", post="y", weight="z")
    assert listed(chosen) == (POST, PRE, [1, 1, 1, 1])


def test_ids_are_taken_where_neurons_are_named_and_indices_where_not():
    both = {"Presynaptic_ID": NAMED["pre"], "Postsynaptic_ID": NAMED["post"]}
    both |= {"Presynaptic_Index": PRE, "Postsynaptic_Index": POST, "weight": WEIGHT}
    assert listed(read(both)) == listed(read(both, neurons=IDS)) == (PRE, POST, WEIGHT)


@pytest.mark.parametrize("make", [list, np.array, pandas.Series, tuple])
def test_neurons_give_the_order_of_the_population(make):
    edges = read(NAMED, neurons=make([*IDS.tolist(), 5]))
    assert listed(edges) == (PRE, POST, WEIGHT)
    assert edges.n == 4  # one of them has no connection
    assert edges.rule.shape == (4, 4)
    assert edges.find([5, 10]).tolist() == [3, 1]
    assert_refused(lambda: edges.find([5, 6]), "Edges.find", "ids", "6 in row 1")


@pytest.mark.parametrize("kind", ["U", object, "category", "string", "str"])
def test_names(kind):
    names = np.array(["MN9", "sugar", "DNa02"])
    table = {side: pandas.Series(names[TABLE[side]].astype(object)) for side in ("pre", "post")}
    table = {k: v.to_numpy("U5") if kind == "U" else v.astype(kind) for k, v in table.items()}
    edges = read(table | {"weight": WEIGHT}, neurons=names)
    assert listed(edges) == (PRE, POST, WEIGHT)
    sorted_names = read(pandas.DataFrame(table))
    assert sorted_names.neurons.tolist() == sorted(names)
    back = sorted_names.neurons[sorted_names.rule.pre]
    assert back.tolist() == names[PRE].tolist()
    assert sorted_names.find("MN9").tolist() == [1]


@pytest.mark.parametrize("kind", ["int8", "uint64", "float32", "float64", "Int64", object])
def test_kinds_of_numbers(kind):
    small = pandas.DataFrame({"pre": PRE, "post": POST}).astype(kind)
    edges = read(small)
    assert (edges.rule.pre.tolist(), edges.rule.post.tolist()) == (PRE, POST)
    assert edges.rule.pre.dtype == np.int32


def test_arrays_that_are_given_stay_the_users():
    pre, post = np.array(PRE), np.array(POST)
    for duplicates in ("refuse", "keep", "sum"):
        for neurons in (None, [0, 1, 2]):
            edges = read({"pre": pre, "post": post}, neurons=neurons, duplicates=duplicates)
            first = edges.rule.pre.copy()
            pre[:] = 0
            assert edges.rule.pre.tolist() == first.tolist()
            pre[:] = PRE


def write(path, frame, sep=","):
    text = frame.to_csv(index=False, sep=sep)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize("with_pandas", [True, False])
@pytest.mark.parametrize("name", ["e.csv", "e.v2.tsv", "e.csv.gz"])
def test_text_files(tmp_path, monkeypatch, name, with_pandas):
    if not with_pandas:
        monkeypatch.setattr(_edge_columns, "_optional", lambda name: None)
    sep = "\t" if "tsv" in name else ","
    texts = pandas.DataFrame({"a, b": ["x,y"] * 4, **NAMED})
    edges = read(str(write(tmp_path / name, texts, sep)), neurons=IDS)
    assert listed(edges) == (PRE, POST, WEIGHT)
    # The paper's list of neurons: ids in a first column without a name.
    complete = tmp_path / "complete.csv"
    complete.write_text(",Completed\n" + "".join(f"{i},True\n" for i in IDS))
    assert listed(read(tmp_path / name, neurons=complete)) == (PRE, POST, WEIGHT)
    named = write(
        tmp_path / "n.csv", pandas.DataFrame({"pre": ["NA", "b c"], "post": ["b c", "d"]})
    )
    assert read(named).neurons.tolist() == ["NA", "b c", "d"]
    missing = write(tmp_path / "m.csv", pandas.DataFrame({"pre": ["a", None], "post": ["b", "c"]}))
    assert_refused(lambda: read(missing), OWNER, PRE_COLUMN, "none in row 1")
    bad = write(tmp_path / "w.csv", pandas.DataFrame(TABLE | {"weight": [1, 2, "three", 4]}))
    assert_refused(lambda: read(bad), OWNER, WEIGHT_COLUMN, "'three' in row 2")
    assert read(write(tmp_path / "none.csv", pandas.DataFrame(columns=["pre", "post"]))).n == 0
    (tmp_path / "empty.csv").write_text("")
    assert_refused(lambda: read(tmp_path / "empty.csv"), OWNER, "edges", "empty.csv")


def test_parquet(tmp_path, monkeypatch):
    path = tmp_path / "e.parquet"
    path.write_bytes(b"")
    with monkeypatch.context() as without:
        without.setattr(_edge_columns, "_optional", lambda name: None)
        with pytest.raises(ImportError, match=r"pyarrow.*jaxneuro\[frames\]"):
            read(path)
    pytest.importorskip("pyarrow")
    pandas.DataFrame(NAMED).to_parquet(path)
    pandas.DataFrame({"id": IDS, "x": 0}).to_parquet(tmp_path / "n.pq")
    assert listed(read(path, neurons=tmp_path / "n.pq")) == (PRE, POST, WEIGHT)
    names = pandas.DataFrame({"pre": ["a", "b"], "post": ["b", "c"]})
    names.to_parquet(path)
    assert read(path).neurons.tolist() == ["a", "b", "c"]


PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(-9, 9)), max_size=30)


@hypothesis.given(rows=PAIRS)
def test_repeated_pairs(rows):
    pre, post, weight = (np.array([r[k] for r in rows], np.int64) for k in range(3))
    table, neurons = {"pre": pre, "post": post, "weight": weight}, np.arange(5)
    want = np.zeros((5, 5))
    np.add.at(want, (pre, post), weight)
    summed = read(table, neurons=neurons, duplicates="sum")
    got = np.zeros((5, 5))
    got[summed.rule.pre, summed.rule.post] = summed.weight
    np.testing.assert_array_equal(got, want)
    pairs = sorted({(i, j) for i, j, _ in rows})
    assert list(zip(summed.rule.pre, summed.rule.post)) == pairs
    kept = read(table, neurons=neurons, duplicates="keep")
    assert listed(kept) == (pre.tolist(), post.tolist(), weight.tolist())
    if len(pairs) == len(rows):
        assert listed(read(table, neurons=neurons)) == listed(kept)
        return
    seen = [(i, j) for i, j, _ in rows]
    again = next(k for k in range(len(seen)) if seen[k] in seen[:k])
    (i, j), first = seen[again], seen.index(seen[again])
    got = f"{i} -> {j} in rows {first} and {again} (the first is 0)"
    assert_refused(lambda: read(table, neurons=neurons), OWNER, "edges", got)
    assert_refused(
        lambda: read(table, neurons=neurons), OWNER, "edges", f"{len(rows) - len(pairs)} rows"
    )


@hypothesis.given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, unique=True))
def test_ids_of_any_size_are_found(ids):
    neurons = np.array(ids)
    order = np.random.default_rng(0).permutation(len(ids))
    edges = read({"pre": neurons[order], "post": neurons}, neurons=neurons)
    assert edges.rule.pre.tolist() == order.tolist()
    other = 1 if neurons[0] != 1 else 2
    if other not in ids:
        assert_refused(lambda: edges.find(other), "Edges.find", "ids", repr(other))


def test_many_ids_block_by_block(monkeypatch):
    monkeypatch.setattr(_edges, "_BLOCK", 64)
    rng = np.random.default_rng(0)
    ids = rng.choice(10**6, 3000, replace=False) << 20  # equal low bits
    pre, post = rng.integers(0, 3000, 5000), rng.integers(0, 3000, 5000)
    for known in (ids, ids.astype(str)):
        table = {"pre": known[pre], "post": known[post]}
        edges = read(table, neurons=known, duplicates="keep")
        assert edges.rule.pre.tolist() == pre.tolist()
        table["post"][4321] = -1
        with pytest.raises(jn.InvalidValueError, match=r"'post'.*got '?-1'? in row 4321"):
            read(table, neurons=known, duplicates="keep")


@pytest.mark.parametrize("n", [5, 2**21, 2**31])  # one sort of words, or two of indices
def test_pairs_in_order(n):
    rng = np.random.default_rng(0)
    few = rng.integers(0, n, 40)
    i, j = rng.choice(few, 3000), rng.choice(few, 3000)
    np.testing.assert_array_equal(pair_order(i, j), np.lexsort((j, i)))


def test_a_network_of_both_signs():
    """Two excitatory neurons and an inhibitory one, onto themselves."""
    edges = read(NAMED, neurons=IDS)
    brain = jn.Population("brain", edges.n, jn.neurons.LIF())
    values = {"weight": 0.5 * edges.weight, "delay": 1.8, "synapse": jn.synapses.Exponential(5.0)}
    wires = jn.Projection("brain", "brain", edges.rule, **values)
    net = jn.build(jn.Description([brain], [wires]), key=0, dt=0.1)
    pre, post, weight, _ = columns(net, 0)
    assert sorted(zip(pre, post, weight)) == sorted(zip(PRE, POST, 0.5 * np.array(WEIGHT)))
    assert draw(edges.rule, 3, 3)[0].size == 4
    whole = read(NAMED | {"weight": [5, -2, 3, 7]}, neurons=IDS)
    assert whole.weight.dtype.kind == "i"
    wires = jn.Projection("brain", "brain", whole.rule, **values | {"weight": whole.weight})
    net = jn.build(jn.Description([brain], [wires]), key=0, dt=0.1)
    assert sorted(columns(net, 0)[2]) == [-2.0, 3.0, 5.0, 7.0]
    larger = jn.Population("brain", 4, jn.neurons.LIF())
    assert_refused(
        lambda: jn.Description([larger], [wires]), "projection 'brain->brain'", "shape", "(3, 3)"
    )


@pytest.mark.parametrize("by", ["pandas", "numpy"])
def test_blanks_around_names_in_a_file(tmp_path, monkeypatch, by):
    if by == "numpy":
        monkeypatch.setattr(_edge_columns, "_optional", lambda name: None)
    path = tmp_path / "edges.csv"
    path.write_text('pre , "post", weight\n A,B , 2.5\nB , C, 3.5\n')
    edges = read(str(path))
    assert edges.neurons.tolist() == ["A", "B", "C"]
    np.testing.assert_array_equal(edges.rule.post, [1, 2])
    np.testing.assert_array_equal(edges.weight, [2.5, 3.5])
    assert read(str(path), pre="pre", post="post").n == 3


def test_a_missing_file_is_named():
    for table, options in (("nowhere.csv", {}), (NAMED, {"neurons": "nowhere.csv"})):
        with pytest.raises(FileNotFoundError, match=r"there must be a file nowhere\.csv"):
            read(table, **options)


NAN = float("nan")


REFUSED = [
    ([1, 2], {}, "edges", "list"),
    (__file__, {}, "edges", "test_edges.py"),
    ({"a": PRE, "post": POST}, {}, "edges", "['a', 'post']"),
    (TABLE, {"pre": "pre"}, "pre and post", "None"),
    (TABLE, {"duplicates": "drop"}, "duplicates", "'drop'"),
    (TABLE | {"pre": [1, 2]}, {}, "columns", "{'pre': 2, 'post': 4, 'weight': 4}"),
    (TABLE | {"pre": [PRE]}, {}, "column 'pre'", "shape"),
    (TABLE | {"pre": [0, -3, 1, -1]}, {}, PRE_COLUMN, "-3 in row 1"),
    (TABLE | {"pre": [0, 1, NAN, 2]}, {}, PRE_COLUMN, "nan in row 2"),
    (TABLE | {"pre": [0, 1.5, 1, 2]}, {}, PRE_COLUMN, "1.5 in row 1"),
    (TABLE | {"pre": [0.0, 2.0**54, 1, 2]}, {}, PRE_COLUMN, "in row 1"),
    (TABLE | {"pre": [True, False] * 2}, {}, PRE_COLUMN, "bool"),
    (TABLE | {"pre": ["a", "b", "c", None]}, {}, PRE_COLUMN, "none in row 3"),
    (TABLE | {"pre": [1, 2, None, 3]}, {}, PRE_COLUMN, "none in row 2"),
    (TABLE | {"pre": list("abcd")}, {}, "neurons", "int and str"),
    (TABLE | {"weight": [1, NAN, 2, np.inf]}, {}, WEIGHT_COLUMN, "nan in row 1"),
    (TABLE | {"weight": ["1", "2", "x", None]}, {}, WEIGHT_COLUMN, "'x' in row 2"),
    (NAMED, {}, None, "720575940660219265 in row 0"),
    (NAMED, {"neurons": IDS[:2]}, None, "720575940660219265 in row 0"),
    (NAMED, {"neurons": ["a", "b"]}, None, "numbers"),
    (NAMED, {"neurons": [IDS]}, "neurons", "(1, 3)"),
    (NAMED, {"neurons": [1, 2, 1]}, "neurons", "1 2 times, first in row 0"),
    (NAMED, {"neurons": ["a", None]}, "neurons", "none in row 1"),
    (NAMED, {"neurons": np.array(["a", 1], object)}, "neurons", "int and str"),
    (NAMED, {"neurons": []}, None, "in row 0"),
]


@pytest.mark.parametrize(("table", "options", "field", "got"), REFUSED)
def test_bad_input_is_refused(table, options, field, got):
    of_column = f"neurons (column {next(iter(table))!r})" if field is None else field
    assert_refused(lambda: read(table, **options), OWNER, of_column, got)


@pytest.mark.parametrize("column", [{"weight": "gain"}, {"pre": "gain", "post": "post"}])
def test_a_column_that_is_not_there(column):
    assert_refused(lambda: read(TABLE, **column), "", "column of edges", "'gain'")


@pytest.mark.parametrize("text", ["pre;post;weight\n1;2;3\n", "pre\tpost\n1\t2\n", "0,1\n1,2\n"])
def test_a_file_of_another_form_says_which_columns_it_has(tmp_path, text):
    file = tmp_path / "edges.csv"
    file.write_text(text)
    assert_refused(lambda: Explicit.from_edges(file), OWNER, "edges", "the columns [")


HEAD = "pre,post,weight\n"
UNEVEN = {  # what is said of the line, and a part of the hint
    "R's row names": (
        '"pre","post","weight"\n"1",0,1,2.5\n"2",1,2,3.5\n',
        "4 in line 2",
        "row.names",
    ),
    "R's row names of names": ('"pre","post"\n"1","a","b"\n"2","b","c"\n', "3 in line 2", "row.n"),
    "decimal commas": (HEAD + "0,1,2,5\n1,2,3,5\n", "4 in line 2", "decimal commas"),
    "one decimal comma": (HEAD + "0,1,2\n1,2,3,5\n", "4 in line 3", "decimal commas"),
    "trailing commas": (HEAD + "0,1,2,\n1,2,3,\n", "4 in line 2", "ends with a separator"),
    "one trailing comma": (HEAD + "0,1,2\n\n1,2,3,\n", "4 in line 4", "ends with a separator"),
    "short": (HEAD + "0,1,2\n1,2\n", "2 in line 3", ""),
    "short and wide": (HEAD + "0,1,2,3\n1,2\n", "4 in line 2", ""),
    "short at the end": (HEAD + "0,1,2\n1", "1 in line 3", ""),
    "quotes": (HEAD + '"0","1","2"\r\n"0, 1",1\r\n', "2 in line 3", ""),
}


@pytest.mark.parametrize("by", ["pandas", "numpy"])
@pytest.mark.parametrize(("text", "got", "hint"), UNEVEN.values(), ids=UNEVEN.keys())
def test_rows_that_are_wider_or_shorter_than_the_header(tmp_path, monkeypatch, text, got, hint, by):
    if by == "numpy":
        monkeypatch.setattr(_edge_columns, "_optional", lambda name: None)
    for name in ("e.csv", "e.csv.gz", "e.tsv"):
        file, said = tmp_path / name, text.replace(",", "\t") if name == "e.tsv" else text
        file.write_bytes(gzip.compress(said.encode()) if name == "e.csv.gz" else said.encode())
        for table, options, field in ((file, {}, "edges"), (NAMED, {"neurons": file}, "neurons")):
            with pytest.raises(jn.InvalidValueError) as caught:
                read(table, **options)
            error = caught.value
            assert (error.owner, error.field) == (OWNER, field)
            assert got in error.got
            assert name in error.got
            assert hint in error.hint


@pytest.mark.parametrize(
    "text",
    [
        '"pre","post","weight"\n"2","1","5"\n"0","1","-2"\n"1","0","3"\n"2","0","7"\n',
        "pre,post,weight\r\n2,1,5\r\n0,1,-2\r\n\r\n1,0,3\r\n2,0,7\r\n\r\n",
        "pre,post,weight\r2,1,5\r0,1,-2\r1,0,3\r2,0,7",
        'pre,post,weight,said\n2,1,5,a\n0,1,-2,\n1,0,3,"b\n""c,"\n  \n2,0,7,"d,e"',
        'pre,post,weight,said\n2,1,5,5" wide\n0,1,-2, "a,b"\n1,0,3,\n2,0,7,\n',
    ],
)
@pytest.mark.parametrize("piece", [7, 1 << 18])
def test_rows_of_every_form_that_are_as_wide_as_the_header(tmp_path, monkeypatch, text, piece):
    monkeypatch.setattr(_edge_columns, "_PIECE", piece)
    (file := tmp_path / "e.csv").write_bytes(text.encode())
    assert listed(read(file)) == (PRE, POST, WEIGHT)


@hypothesis.given(
    st.lists(st.sampled_from(["a", "é", ",", '"', "\n", "\r\n", " ", "\r", '"a"', "a,a\n"])),
    st.integers(1, 3),
)
def test_lines_that_are_found_even_are_so(parts, width):
    text = "".join(parts) + "\n"
    rows = list(csv.reader(io.StringIO(text, newline=None), skipinitialspace=True))
    widths = {len(row) for row in rows if row and (len(row) > 1 or row[0].strip())}
    if _edge_columns._is_even(text.encode(), ",", width):
        assert widths <= {width}
    elif not {'"', "\r", '"a"'} & set(parts):
        assert widths - {width}


def test_a_quote_that_does_not_end(tmp_path):
    (file := tmp_path / "e.csv").write_text(HEAD + '0,1,2\n0,1,"2\n3,4,5\n')
    assert_refused(lambda: read(file), "Explicit.from_edges", "edges")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_a_file_that_is_not_utf_8_is_named(tmp_path, encoding):
    for rows in ("é,1\n", "0,1\n" * 100_000 + "é,1\n"):
        (file := tmp_path / "e.csv").write_bytes(f"pre,post\n{rows}".encode(encoding))
        with pytest.raises(jn.InvalidValueError, match=r"text in UTF-8; got .*e\.csv, which has"):
            read(file)
    file.write_text("pre,post\né,ü\n", encoding="utf-8-sig")
    assert read(file).neurons.tolist() == ["é", "ü"]


def test_text_that_is_no_unicode_in_parquet(tmp_path):
    arrow, parquet = (pytest.importorskip(x) for x in ("pyarrow", "pyarrow.parquet"))
    buffers = [None, *(arrow.py_buffer(x) for x in (b"\0\0\0\0\2\0\0\0", b"\xff\xfe"))]
    text = arrow.Array.from_buffers(arrow.string(), 1, buffers)
    parquet.write_table(arrow.table({"pre": text, "post": [1]}), path := tmp_path / "e.parquet")
    for given, field in (((path,), "edges"), (({"pre": ["a"], "post": ["a"]}, path), "neurons")):
        with pytest.raises(jn.InvalidValueError, match=f"{field} must be a whole file"):
            jn.connectivity.Explicit.from_edges(given[0], neurons=(given[1:] or (None,))[0])
