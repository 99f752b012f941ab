"""Damage for `fuzz_readers.py`: of bytes, of JSON, of npy and npz files, of HDF5 files."""

import io
import json
import os
import pickle
import random
import zipfile
from typing import Any

import numpy as np

HUGE = [2**31 - 1, 2**31, 2**40, 2**53, 2**62, 2**63 - 1, 2**63, 2**64, 10**30, 10**400]
NUMBERS = [0, 1, 2, 3, -1, -(2**31), -(2**63), *HUGE, 0.0, -0.5, 0.1, 1e-320, 1e18, 1e308, -1e308]
WORDS = ["", "v", "E", "E->E", "\x1b[2J", "\ud800", "x" * 3000, "header", "npz", "hdf5", "../up"]
DTYPES = ["O", "V0", "S0", "U0", "<f8", "int8", "bfloat16", "f8,(", "f8,f8", "(2,)f8", "M8[s]", "V"]
DTYPES += ["S2147483647", "V9999999999", "1000000000f8", "|b1", ">f4", "c16", "<U1", "[('a','O')]"]
SPECIAL = [None, True, False, float("nan"), float("inf"), -float("inf")]


class Trap:
    """What a pickle of it does is seen: it makes a folder, and asks for a function."""

    def __reduce__(self) -> Any:
        return os.mkdir, (os.environ.get("FUZZ_TRAP", "trap"),)


def any_of(r: random.Random, weights: dict[str, int]) -> str:
    return r.choices(list(weights), list(weights.values()))[0]


# --- Bytes.


def bytes_changed(r: random.Random, data: bytes, pieces: list[bytes] = []) -> bytes:  # noqa: B006
    """Flips, cuts, inserts and splices."""
    out = bytearray(data)
    for _ in range(r.choice((1, 1, 1, 2, 4, 16))):
        at, length = r.randrange(len(out) + 1), r.choice((1, 1, 2, 4, 8, 30, 300))
        kind = r.randrange(6)
        if kind == 0 and at < len(out):
            out[at] ^= 1 << r.randrange(8)
        elif kind == 1:
            out[at : at + length] = r.randbytes(length)
        elif kind == 2:
            del out[at : at + length]
        elif kind == 3:
            out[at:at] = r.choice(pieces) if pieces else r.randbytes(length)
        elif kind == 4:
            begin = r.randrange(len(out) + 1)
            out[at : at + r.choice((0, length))] = out[begin : begin + length]
        elif r.random() < 0.3:
            del out[at:]
    return bytes(out)


# --- Trees of JSON.


def odd(r: random.Random, names: Any = ()) -> Any:
    """A value that is seldom right."""
    kind = r.randrange(12)
    if kind < 4:
        return r.choice(NUMBERS)
    if kind < 6:
        return r.choice(WORDS + DTYPES + list(names))
    if kind == 6:
        return r.choice(SPECIAL)
    if kind == 7:
        return r.choice(([], {}, [[]], [{}], {"": None}, [1, 2], ["a", "b"], [0] * 1000))
    if kind == 8:
        nest: Any = r.choice((1, [], {}))
        for _ in range(r.choice((1, 3, 40, 900))):
            nest = r.choice(([nest], {"tuple": [nest]}, {"list": [nest]}, {"a": nest}))
        return nest
    if kind == 9:
        return {"plain": r.choice(NUMBERS + WORDS + SPECIAL)}
    if kind == 10 and names:
        node = {"array": r.choice(list(names))}
        return node | ({"dtype": r.choice(DTYPES)} if r.random() < 0.5 else {})
    return {"dict": [[r.choice(WORDS), {"plain": 1}], *([[3, {}]] * r.randrange(2))]}


def places(tree: Any) -> list[tuple[Any, Any]]:
    """All items in a tree: what holds them, and their key."""
    out, todo = [], [tree]
    while todo:
        holder = todo.pop()
        keys = holder if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            out.append((holder, key))
            if isinstance(holder[key], dict | list):
                todo.append(holder[key])
    return out


def _parsed(value: Any) -> Any:
    """JSON in JSON."""
    try:
        return json.loads(value) if isinstance(value, str) and value[:1] in "{[" else None
    except ValueError:
        return None


def tree_changed(r: random.Random, tree: Any, names: Any = ()) -> Any:
    """A tree with some items replaced, dropped, added, copied or exchanged."""
    tree = {"": json.loads(json.dumps(tree))}
    for _ in range(r.choice((1, 1, 1, 2, 3))):
        found = places(tree)
        holder, key = r.choice(found)
        value, kind = holder[key], r.randrange(8)
        inside = _parsed(value)
        if inside and r.random() < 0.9:
            holder[key] = json.dumps(tree_changed(r, inside))
        elif kind < 4:
            number = type(value) in (int, float) and r.random() < 0.5
            holder[key] = r.choice(NUMBERS) if number else odd(r, names)
        elif kind == 4 and holder is not tree:
            del holder[key]
        elif kind == 5 and isinstance(value, dict | list):
            if isinstance(value, dict):
                value[r.choice(list(value) + WORDS)] = odd(r, names)
            else:
                value.insert(r.randrange(len(value) + 1), odd(r, names))
        elif kind == 6:
            other, its = r.choice(found)
            copy = json.loads(json.dumps(other[its]))
            holder[key] = copy
        elif isinstance(value, list):
            r.shuffle(value)
    return tree.get("")


# --- npy and npz.


def npy(about: str, data: bytes, version: int = 1) -> bytes:
    """An npy with any text as its header."""
    head = about.encode("latin-1" if version < 3 else "utf-8", "replace") + b"\n"
    size = len(head).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + size + head + data


def npy_of(x: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array(out, x)
    return out.getvalue()


def npy_once(name: str, x: np.ndarray, known: dict = {}) -> bytes:  # noqa: B006
    """`npy_of` an array that is asked for again."""
    if known.get(name, (None,))[0] is not x:
        known[name] = x, npy_of(x)
    return known[name][1]


def pickled() -> bytes:
    """An npy of an object array whose pickle acts."""
    text = "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"
    return npy(text, pickle.dumps(np.array([Trap()], object), protocol=4))


def npy_changed(r: random.Random, x: np.ndarray) -> bytes:
    """An npy of an array with another header, or of another array."""
    kind = any_of(r, {"array": 4, "header": 6, "pickle": 1, "bytes": 1, "text": 2})
    if kind == "array":
        return npy_of(array_changed(r, x))
    if kind == "pickle":
        return pickled()
    if kind == "bytes":
        return bytes_changed(r, npy_of(x))
    dtypes = [repr(k) for k in DTYPES] + [repr(x.dtype.str)] * 20
    dtypes += ["[('a', '<f8'), ('b', 'O')]", "[('a', '<i4', (2,))]", "None", "1", "{}", "[]"]
    shapes = [str(x.shape)] * 5 + [f"({n},)" for n in NUMBERS] + ["()", "(3, -1)", "3", "(True,)"]
    shapes += [f"({a}, {b})" for a in (0, 2, 2**32, 2**62) for b in (0, 3, 2**32)]
    shapes += ["(" + "1," * 40 + ")", "(1,)*3", "[1]", "('a',)", "(None,)", "(3L,)", "(0x3,)"]
    order = r.choice(("False", "True", "False", "0", "None"))
    text = f"{{'descr': {r.choice(dtypes)}, 'fortran_order': {order}, 'shape': {r.choice(shapes)}"
    text += r.choice(("", "", "", ", 'x': 1", ", 'shape': ()", "'")) + r.choice(
        (", }", "}", "", ")")
    )
    if kind == "text":
        text = bytes_changed(r, text.encode()).decode("latin-1")
        text = r.choice((text, text, "[" * 500, "(" * 5000, "-" * 3000 + "1", " " * 70000, "{'a':"))
    version = r.choice((1, 1, 1, 2, 3, 4, 255))
    data = x.tobytes() if not x.dtype.hasobject else b""
    return npy(text[: 65000 if version == 1 else 200000], data, version)


def array_changed(r: random.Random, x: np.ndarray) -> np.ndarray:
    """Another array in place of one."""
    kind = r.randrange(10)
    if kind == 0:
        return x.astype(r.choice(("f4", "f8", "i1", "u8", "bool", "c8", "S3", "U3", ">i4", "i8")))
    if kind == 1:
        return np.resize(x, r.choice(((), (0,), (1,), (3,), (2, 2), (3, 0), (0, 3), (1, 2, 3))))
    if kind == 2 and x.size:
        out = x.copy()
        with np.errstate(all="ignore"):
            at, n = r.randrange(x.size), min(x.dtype.itemsize, 8)
            flat = out.reshape(-1).view(np.uint8) if out.ndim else out.reshape(1).view(np.uint8)
            flat[at * x.dtype.itemsize :][:n] = r.choice((0, 127, 128, 255, r.randrange(256)))
        return out
    if kind == 3:
        return np.concatenate([np.atleast_1d(x)] * r.choice((0, 2, 50)) or [np.zeros(0)])
    if kind == 4:
        return np.atleast_1d(x)[::-1].copy()
    if kind == 5:
        return np.array(r.choice(("", "text", b"x", True, 1j, np.datetime64("2020"), 1e300, 7)))
    if kind == 6:
        return np.zeros(r.choice((0, 3)), [("a", "i4"), ("b", "f8")])
    if kind == 7:
        return np.full(np.shape(x), r.choice((np.nan, np.inf, -1, 3.7, 1e308, 2.0**62)))
    if kind == 8:
        return np.full(np.shape(x), r.choice((-1, 2**31 - 1, -(2**31), 2**62, -(2**63))), np.int64)
    return np.asarray(x)[..., None]


def npz_parts(data: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(data)) as file:
        return {name: file[name] for name in file.files}


def npz_changed(r: random.Random, arrays: dict[str, np.ndarray], data: bytes) -> bytes:
    """An npz of which the header, an array or the archive is another, with right sums."""
    names, parts = list(arrays), {}
    kind = any_of(r, {"header": 10, "array": 5, "npy": 3, "names": 2, "archive": 2, "bytes": 3})
    if kind == "bytes":
        return bytes_changed(r, data)
    if kind == "header":
        tree = tree_changed(r, json.loads(arrays["header"].tobytes()), names)
        text = json.dumps(tree).encode("utf-8", "surrogatepass")
        if r.random() < 0.05:
            text = r.choice(
                (b"[" * 99999, b'{"a":' * 9999, bytes_changed(r, text), b"1" * 9999, b"")
            )
        arrays = {**arrays, "header": np.frombuffer(text, np.uint8)}
    for name, x in arrays.items():
        parts[f"{name}.npy"] = npy_once(name, x)
    picked = r.sample(names, min(len(names), r.choice((1, 1, 2))))
    for name in picked:
        file = f"{name}.npy"
        if kind == "array":
            parts[file] = npy_of(array_changed(r, arrays[name]))
        elif kind == "npy":
            parts[file] = npy_changed(r, arrays[name])
        elif kind == "names":
            content, other = parts.pop(file), r.choice(names) + ".npy"
            how = r.randrange(4)
            if how == 0:
                parts[r.choice((other, name, file + "\x00", "", "/", "../x.npy"))] = content
            elif how == 1 and other in parts:
                parts[file], parts[other] = parts[other], content
            elif how == 2:
                parts[file] = r.choice((b"", b"text", pickle.dumps(Trap()), b"\x93NUMPY", b"PK"))
    return zipped(r, parts, kind == "archive")


def zipped(r: random.Random, parts: dict[str, bytes], odd_archive: bool) -> bytes:
    out, how = io.BytesIO(), r.randrange(9) if odd_archive else 9
    method = r.choice((8, 12, 14)) if how < 2 else 0
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, x in parts.items():
            archive.writestr(zipfile.ZipInfo(name), x, method)
        if how == 2:
            archive.writestr("zeros.npy", npy_of(np.zeros(300_000)), 8)
        elif how == 3:
            archive.comment = r.randbytes(30) + b"PK\x05\x06"
    data = out.getvalue()
    if how == 4:
        return r.choice((npy_of(np.zeros(3)), pickle.dumps(Trap()), b"junk")) + data
    if how in (5, 6, 7):  # fields of a directory: flags, method, sizes, extra
        data = bytearray(data)
        at = data.find(b"PK\x01\x02", r.randrange(len(data)))
        at = data.find(b"PK\x01\x02") if at < 0 else at
        field, size = r.choice(
            ((8, 2), (10, 2), (16, 4), (20, 4), (24, 4), (28, 2), (30, 2), (42, 4))
        )
        value = r.choice((0, 1, 2**16 - 1, 2**31, 2**32 - 1, 9, 14, 99)) % 256**size
        data[at + field : at + field + size] = value.to_bytes(size, "little")
    return bytes(data)


# --- HDF5.


def hdf5_changed(r: random.Random, path: str) -> None:
    """Changes the structure of an HDF5 file."""
    import h5py

    with h5py.File(path, "r+") as file:
        groups: list[str] = []
        sets: list[str] = []
        file.visititems(lambda k, x: (groups if isinstance(x, h5py.Group) else sets).append(k))
        for _ in range(r.choice((1, 1, 2))):
            name = r.choice(sets if r.random() < 0.8 else groups)
            try:
                if "header" in file and r.random() < 0.25 and _small(file["header"]):
                    tree = tree_changed(r, json.loads(file["header"][:].tobytes()), sets)
                    text = json.dumps(tree).encode("utf-8", "surrogatepass")
                    del file["header"]
                    file["header"] = np.frombuffer(text, np.uint8)
                elif name in file:
                    _changed_at(r, file, name, groups + sets)
            except Exception:
                continue  # what h5py does not write


def _small(x: Any) -> bool:
    """Whether it is an array to read: HDF5 ends the process for one that is made from itself."""
    import h5py

    plain = isinstance(x, h5py.Dataset) and x.size is not None and not x.is_virtual
    return plain and x.size < 10_000


def _changed_at(r: random.Random, file: Any, name: str, names: list[str]) -> None:
    import h5py

    x = file[name]
    old = x[()] if _small(x) else None
    kind = any_of(
        r,
        {
            **{"drop": 3, "move": 2, "array": 5, "huge": 4, "attribute": 4, "link": 3},
            **{"group": 1, "odd": 3, "rows": 3},
        },
    )
    if kind == "attribute":
        holder = r.choice((file, x))
        key = r.choice(list(holder.attrs) or ["first_step", "dt", "sorting", "units", "magic"])
        value = r.choice((*NUMBERS, *WORDS, np.zeros(3), np.zeros(0), h5py.Empty("f8"), None))
        if value is None:
            del holder.attrs[key]
        else:
            holder.attrs[key] = value
        return
    if kind == "move":
        file.move(name, r.choice((*names, "arrays/x", "report", name + "/y", "..", "é")))
        return
    del file[name]
    if kind == "array" and old is not None:
        file[name] = array_changed(r, np.asarray(old))
    elif kind == "rows" and old is not None:
        file[name] = np.resize(old, (r.choice((0, 1, 4, 9, 300)), *np.shape(old)[1:]))
    elif kind == "huge":
        dtype = r.choice(("f8", "i4", "u1", "S100")) if old is None else old.dtype
        rest = np.shape(old)[1:]
        shape = r.choice(
            ((10**6,), (10**9,), (10**10,), (2**40, *rest), (2**31, *rest), (2**62,), (0, 2**40))
        )
        chunks = tuple(min(n, 10) or 1 for n in shape)
        more = r.choice(({}, {"compression": "gzip"}, {"fillvalue": 1}, {"shuffle": True}))
        file.create_dataset(
            name, shape, dtype, chunks=chunks, maxshape=(None,) * len(shape), **more
        )
    elif kind == "group":
        file.create_group(name)
    elif kind == "link":
        soft = h5py.SoftLink(r.choice(("/" + name, "/", "/nowhere", *("/" + k for k in names))))
        outside = r.choice(
            ("/etc/passwd", "/dev/zero", "/dev/tty", ".", "part-000000.h5", "nowhere")
        )
        file[name] = r.choice((soft, h5py.ExternalLink(outside, "/" + name)))
    elif kind == "odd":
        _odd_set(r, file, name, old)


def _odd_set(r: random.Random, file: Any, name: str, old: Any) -> None:
    import h5py

    n = len(old) if np.ndim(old) else 3
    kind = r.randrange(8)
    if kind == 0:
        file.create_dataset(name, data=["a", "bc"] * n, dtype=h5py.string_dtype())
    elif kind == 1:
        file.create_dataset(name, (n,), h5py.vlen_dtype(np.int32))
    elif kind == 2:
        file.create_dataset(name, data=[file.ref] * n, dtype=h5py.ref_dtype)
    elif kind == 3:
        file[name] = h5py.Empty("f8")
    elif kind == 4:
        file[name] = np.dtype("f8")
    elif kind == 5:
        source = h5py.VirtualSource(r.choice((".", "/etc/passwd", "nowhere")), name, (n,), "f8")
        layout = h5py.VirtualLayout((n,), "f8")
        layout[:] = source
        file.create_virtual_dataset(name, layout)
    elif kind == 6:
        outside = [(r.choice(("/etc/passwd", "/dev/zero", "nowhere")), 0, 8 * n)]
        file.create_dataset(name, (n,), "f8", external=outside)
    else:
        file.create_dataset(name, (n,), h5py.enum_dtype({"a": 0, "b": 1}))
