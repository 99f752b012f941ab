"""Damaged files for every reader of files that may come from strangers.

    python scripts/fuzz_readers.py --reader result --inputs 200000 --seed 1

An input ends as a value, or in a `ValueError` or an `OSError`, within 5 s of processor time and 4
GB of memory, and nothing that it holds runs. Anything else is printed, and the first file of each
kind kept. Each input follows from the seed and its number.
"""

import argparse
import collections
import contextlib
import dataclasses
import faulthandler
import gzip
import json
import logging
import math
import mmap
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts import fuzz_damage as damage

SECONDS, HUNG, GB = 5.0, 120, 4
FINE = (ValueError, OSError)
CRASHES = 50  # of a process, before it is given up


class TooLate(BaseException):
    """An input that takes too long."""


class Readers:
    """The readers, each with a folder of good files of which one is damaged."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.good: dict[str, bytes] = {}

    def restore(self) -> None:
        """All files as they were."""
        shutil.rmtree(self.folder)
        for name, data in self.good.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_bytes(data)

    def made(self, name: str) -> tuple[Callable, Callable]:
        """What damages and what reads, `damage(random) -> file name` and `read(file name)`."""
        make, read = getattr(self, f"_{name}")()
        files = [x for x in self.folder.rglob("*") if x.is_file() and x.name != "lock"]
        self.good = {str(x.relative_to(self.folder)): x.read_bytes() for x in files}
        return make, read

    def _put(self, name: str, data: bytes) -> str:
        (self.folder / name).write_bytes(data)
        return name

    # Networks.

    def _json(self) -> Any:
        return self._network("json")

    def _toml(self) -> Any:
        return self._network("toml")

    def _network(self, kind: str) -> Any:
        import jaxneuro as jn
        from jaxneuro.io import format_description, read_description
        from jaxneuro.io._write import _toml_file, plain

        texts = [format_description(x, kind).encode() for x in networks()]
        trees = [plain(x) for x in networks()]
        words = ["type", "LIF", "Normal", "Grid", "Explicit", "low", "high", "population", "E"]
        pieces = [json.dumps(x).encode() for x in (*words, *damage.NUMBERS[:14])]
        pieces += (
            b'[[ ]] """ \'\'\' {" } [ ] # = , : \\ 1e400 NaN inf \x00 \xff [populations]'.split()
        )

        self._put(f"net.{kind}", texts[1])

        def make(r: random.Random) -> str:
            which = r.randrange(len(texts))
            if r.random() < 0.4:
                return self._put(f"net.{kind}", damage.bytes_changed(r, texts[which], pieces))
            tree = damage.tree_changed(r, trees[which], words)
            text = json.dumps(tree)
            if kind == "toml":
                with contextlib.suppress(Exception):  # what TOML does not have
                    text = _toml_file(tree)
            return self._put(f"net.{kind}", text.encode("utf-8", "surrogatepass"))

        def read(name: str) -> None:
            assert isinstance(read_description(self.folder / name), jn.Description)

        return make, read

    # Results, states and runs.

    def _npz(self, files: list[str]) -> Any:
        data = {name: (self.folder / name).read_bytes() for name in files}
        arrays = {name: damage.npz_parts(x) for name, x in data.items()}

        def make(r: random.Random) -> str:
            name = r.choice(files)
            return self._put(name, damage.npz_changed(r, arrays[name], data[name]))

        return make

    def _result(self) -> Any:
        import numpy as np

        import jaxneuro as jn
        from jaxneuro._network.state import SavedState

        result = small_run()
        # Few of its arrays are as good as all.
        some = {".step": result.state.step, ".seed": result.state.seed}
        state = SavedState(some, np.asarray(result.state.fingerprint), 60)
        dataclasses.replace(result, state=state).save(self.folder / "run.npz")
        read = lambda name: used(lambda: jn.Result.load(self.folder / name))  # noqa: E731
        return self._npz(["run.npz"]), read

    def _checkpoint(self) -> Any:
        import jax
        import numpy as np

        import jaxneuro as jn

        net = jn.build(networks()[0], 1, 0.1)
        more = {
            "a": 1.5,
            "b": np.zeros((2, 3)),
            "key": jax.random.key(3),
            "n": 3,
            "host": np.bool_(1),
        }
        state = net.init(0)
        jn.checkpoint.save(self.folder / "state.npz", state, more=more)

        def read(name: str) -> None:
            refused = None
            for like in (net, state):
                try:
                    jn.checkpoint.load(self.folder / name, like, more=more)
                except FINE as error:
                    refused = error
            if refused is not None:
                raise refused

        return self._npz(["state.npz"]), read

    def _run(self) -> Any:
        from jaxneuro._run import saved
        from jaxneuro._run.part_files import NpzParts

        usual, saved.parts_here = saved.parts_here, NpzParts
        small_run(save=self.folder, every=3.0)
        saved.parts_here = usual
        last = max(x.name for x in self.folder.glob("state-*"))
        parts = [x.name for x in self.folder.glob("part-*")]
        return self._npz(["run.npz", last, *sorted(parts)]), self._read_run

    def _hdf5(self) -> Any:
        small_run(save=self.folder, every=3.0)
        parts = sorted(x.name for x in self.folder.glob("part-*"))
        npz = self._npz(["run.npz", max(x.name for x in self.folder.glob("state-*"))])
        data = {name: (self.folder / name).read_bytes() for name in parts}

        def make(r: random.Random) -> str:
            kind, name = r.random(), r.choice(parts)
            if kind < 0.1:
                return npz(r)
            if kind < 0.2:
                return self._put(name, damage.bytes_changed(r, data[name]))
            if kind < 0.24:
                (self.folder / name).unlink()
            elif kind < 0.28:
                self._put(name, data[r.choice(parts)])
            else:
                damage.hdf5_changed(r, str(self.folder / name))
            return name

        return make, self._read_run

    def _read_run(self, name: str) -> None:
        import jaxneuro as jn

        used(lambda: jn.Recording.open(self.folder))

    def _sonata(self) -> Any:
        import jaxneuro as jn

        jn.io.write_sonata(jn.build(networks()[2], 1, 0.1), self.folder, duration=5.0)
        files = sorted(str(x.relative_to(self.folder)) for x in self.folder.rglob("*.*"))
        data = {name: (self.folder / name).read_bytes() for name in files}
        trees = {name: json.loads(x) for name, x in data.items() if name.endswith(".json")}
        words = ["nest:iaf_psc_exp", "nrn:IntFire1", "E", "spikes", "h5", "..", "/", "$X", "100"]
        pieces = [str(x).encode("utf-8", "surrogatepass") for x in (*words, *damage.NUMBERS, " ")]

        def make(r: random.Random) -> str:
            name = r.choice(files)
            if r.random() < 0.2 or name.endswith(".csv"):
                return self._put(name, damage.bytes_changed(r, data[name], pieces))
            if name.endswith(".h5"):
                damage.hdf5_changed(r, str(self.folder / name))
                return name
            text = json.dumps(damage.tree_changed(r, trees[name], words))
            return self._put(name, text.encode("utf-8", "surrogatepass"))

        return make, lambda name: jn.io.read_sonata(self.folder, max_mb=64.0)

    # Arrays and lists of edges.

    def _npy(self) -> Any:
        import numpy as np

        from jaxneuro._disk.arrays import read_npy

        arrays = [np.arange(6.0).reshape(2, 3), np.arange(3, dtype=np.int32), np.array(True)]
        self._put("x.npy", damage.npy_of(arrays[0]))
        make = lambda r: self._put("x.npy", damage.npy_changed(r, r.choice(arrays)))  # noqa: E731
        return make, lambda name: read_npy("fuzz", self.folder / name)

    def _csv(self) -> Any:
        texts = ["pre,post,weight\n0,1,0.5\n2,1,3\n1,0,-1\n", "pre\tpost\nA\tB\nB\tC\nC\tA\n"]
        texts += ['"pre_root_id" , post_root_id,syn_count\n720575940,1,2\n3,4,5\n', "pre,post\n"]
        cells = (
            [str(x) for x in damage.NUMBERS] + damage.WORDS + ["NaN", "nan", "<NA>", "NULL", "TRUE"]
        )
        cells += [
            '"',
            '""',
            '"a',
            "'",
            "\r",
            "\x00",
            "1_0",
            "0x3",
            "1e5",
            " 3",
            "2020-01-01",
            "1j",
            "é",
        ]
        pieces = [x.encode("utf-8", "surrogatepass") for x in cells] + [b",", b"\n", b"\t", b"\xff"]

        self._put("edges.csv", texts[0].encode())

        def make(r: random.Random) -> str:
            text = r.choice(texts)
            if r.random() < 0.6:
                mark = "\t" if "\t" in text else ","
                rows = [line.split(mark) for line in text.splitlines()]
                for _ in range(r.choice((1, 1, 2, 5))):
                    row = r.choice(rows)
                    how = r.randrange(6)
                    if how < 4:
                        row[r.randrange(len(row))] = r.choice(cells)
                    elif how == 4:
                        row.append(r.choice(cells))
                    elif len(row) > 1:
                        row.pop()
                lines = [mark.join(row) for row in rows] * r.choice((1, 1, 1, 20))
                data = r.choice(("\n", "\n", "\r\n", "\r")).join(lines)
                data = data.encode("utf-8", "surrogatepass")
            else:
                data = damage.bytes_changed(r, text.encode(), pieces)
            end = r.choice((".csv", ".csv", ".tsv", ".csv.gz"))
            if end == ".csv.gz":
                data = gzip.compress(data, 1)
                data = damage.bytes_changed(r, data) if r.random() < 0.5 else data
            return self._put(f"edges{end}", data)

        return make, self._read_edges

    def _parquet(self) -> Any:
        import numpy as np
        import pyarrow as pa
        import pyarrow.parquet as pq

        def table(columns: dict[str, Any], **more: Any) -> bytes:
            out = pa.BufferOutputStream()
            pq.write_table(pa.table(columns), out, **more)
            return out.getvalue().to_pybytes()

        good = {"pre": [0, 2, 1], "post": [1, 1, 0], "weight": [0.5, 3.0, -1.0]}
        sets = [table(good), table(good, row_group_size=1), table({**good, "pre": ["A", "B", "C"]})]
        self._put("edges.parquet", sets[0])
        sets += [table({k: np.zeros(0) for k in good}), table(good, compression="gzip")]
        odd = [[None] * 3, [1, None, 2], [[1], [2], []], [{"a": 1}] * 3, [b"\xff", b"", b"a"]]
        odd += [[2**62, 0, 1], [-1, 0, 1], [1.5, 0.0, float("nan")], ["", "x", None], [True] * 3]
        odd += [
            np.array([1, 2, 3], "M8[s]"),
            np.array([1, 2, 3], "m8[ms]"),
            np.zeros(3, np.float16),
        ]
        odd += [
            pa.array(["a", "b", "a"]).dictionary_encode(),
            np.array([2**64 - 1, 0, 1], np.uint64),
        ]
        odd += [pa.nulls(3), pa.array([1, 2, 3], pa.decimal128(5, 2)), [2**31 - 1, 0, 2**31 - 2]]

        def make(r: random.Random) -> str:
            if r.random() < 0.6:
                data = r.choice(sets)
                begin = len(data) - int.from_bytes(data[-8:-4], "little") - 8
                cut = r.choice((0, begin))  # the footer alone, or all
                data = data[:cut] + damage.bytes_changed(r, data[cut:])
            else:
                columns = dict(good)
                for _ in range(r.choice((1, 2))):
                    columns[r.choice((*good, "x"))] = r.choice(odd)
                columns.pop(r.choice((*good, "", "", "")), None)
                data = table(columns, row_group_size=r.choice((1, 2, 9)))
            return self._put("edges.parquet", data)

        return make, self._read_edges

    def _read_edges(self, name: str) -> None:
        from jaxneuro.connectivity import Explicit

        path = self.folder / name
        with contextlib.suppress(*FINE):
            Explicit.from_edges(path, neurons=path)
        Explicit.from_edges(path, duplicates="sum")


NAMES = ("json", "toml", "result", "checkpoint", "run", "hdf5", "sonata", "npy", "csv", "parquet")


def networks() -> list[Any]:
    """Small networks that name many of the models."""
    import jaxneuro as jn

    lif = jn.neurons.LIF()
    grid = jn.space.Grid((3, 1), 20.0)
    delta = jn.synapses.Delta()
    cells = [jn.Population("E", 3, lif, initial={"v": jn.Uniform(-60.0, -50.0)})]
    own = {"weight": 0.5, "delay": 1.5, "synapse": delta}
    one = jn.Projection("E", "E", jn.connectivity.FixedIndegree(2), **own)
    first = jn.Description(cells, [one])
    e, i = (
        jn.Population("E", 3, lif, positions=grid),
        jn.Population("I", 3, jn.neurons.Izhikevich()),
    )
    part = jn.Part("E", slice(0, 2))
    many = [
        jn.Projection(
            part, "I", jn.connectivity.Explicit([0, 1], [1, 2]), **{**own, "weight": [0.5, 1.0]}
        ),
        jn.Projection(
            "I", "E", jn.connectivity.AllToAll(), **{**own, "weight": jn.Normal(1.0, 0.1)}
        ),
    ]
    stimuli = [jn.Stimulation("E", jn.stimuli.Poisson(8.0), weight=1.0, synapse=delta)]
    steps = jn.stimuli.Steps([0.5, 3.3], [10.1, -0.7])
    stimuli += [jn.Stimulation("I", jn.stimuli.Current(steps))]
    cells = [
        jn.Population("in", 3, jn.neurons.Relay()),
        jn.Population("E", 3, jn.neurons.IafPscExp(), positions=[[0.5, 1.0]] * 3),
    ]
    own = {"weight": 100.0, "delay": 1.5, "synapse": jn.synapses.Direct("ex")}
    one = jn.Projection("in", "E", jn.connectivity.AllToAll(), **own)
    spikes = jn.stimuli.SpikeTimes([1.0, 2.0, 3.0], [0, 1, 2])
    given = jn.Stimulation("in", spikes, weight=1.0, synapse=delta)
    points = jn.Description(cells, [one], [given])
    return [first, jn.Description([e, i], many, stimuli), points]


def small_run(**more: Any) -> Any:
    """A run of three neurons with all kinds of records."""
    import jaxneuro as jn

    net = networks()[0]
    rule = jn.plasticity.PairSTDP(w_max=12.0)
    learned = [dataclasses.replace(p, plasticity=rule) for p in net.projections]
    net = jn.build(dataclasses.replace(net, projections=learned), 1, 0.1)
    record = jn.Record(
        variables={"E": "v"},
        neurons={"E": [0, 2]},
        means={"E": "v"},
        weights={"E->E": ...},
        weight_histograms={"E->E": 2},
        rates=True,
        statistics="E",
        interval=0.5,
    )
    return jn.simulate(net, 6.0, record=record, inputs={"E": 900.0}, progress=False, **more)


def used(make: Callable[[], Any]) -> None:
    """Reads all of a result; each part of it may be refused."""
    import jax
    import numpy as np

    result = make()
    arrays = ("traces", "means", "lfp", "weights", "weight_histograms", "counts", "function")
    uses: list[Callable] = [lambda: repr(result), result._repr_html_]
    uses += [lambda k=k: jax.tree.map(np.asarray, getattr(result, k)) for k in arrays]
    for name in list(result.populations)[:3]:
        uses += [lambda k=name: result.events(k), lambda k=name: result.rate(k)]
        uses += [lambda k=name: result.events(k, result.start, result.stop)]
        uses += [lambda k=name: result.neurons_at(k, result.first_step + 3)]
    refused = None
    for use in uses:
        try:
            use()
        except FINE as error:
            refused = error.with_traceback(None)  # which would keep what was read
    if refused is not None:
        raise refused


# --- One process that reads, and one that watches it.


def work(given: argparse.Namespace) -> None:
    """Reads inputs from `first` on, and prints what came of them."""
    warnings.simplefilter("ignore")
    logging.disable()
    folder, trap = Path(given.work) / "files", Path(given.work) / "trap"
    os.environ["FUZZ_TRAP"] = str(trap)
    readers = Readers(folder)
    make, read = readers.made(given.reader)
    ran: list[str] = []
    events = (
        "pickle.find_class",
        "os.system",
        "subprocess.Popen",
        "socket.connect",
        "ctypes.dlopen",
    )
    watching = [False]

    def watch(event: str, args: Any) -> None:
        if watching[0] and event in events:
            ran.append(f"{event} {args}")

    sys.addaudithook(watch)

    def late(number: int, frame: Any) -> None:
        raise TooLate

    def in_time(name: str) -> None:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        # Ends the process, also where a library never comes back.
        faulthandler.dump_traceback_later(HUNG, exit=True)
        try:
            read(name)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            faulthandler.cancel_dump_traceback_later()

    signal.signal(signal.SIGPROF, late)
    used_now = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    most = used_now + GB * 10**9
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    counts: collections.Counter[str] = collections.Counter()
    with open(Path(given.work) / "at", "r+b") as file:
        at = mmap.mmap(file.fileno(), 8)
    for name in readers.good:  # what is imported and compiled for the first
        read(name)
    end = time.monotonic() + given.seconds
    for number in range(given.first, given.inputs):
        if time.monotonic() > end:
            break
        at[:] = number.to_bytes(8, "little")
        r = random.Random(f"{given.reader} {given.seed} {number}")
        try:
            name = make(r)
        except RecursionError:  # a tree that is too deep to be written
            readers.restore()
            continue
        outcome, text = outcome_of(in_time, name, watching)
        if ran or trap.exists():
            outcome, text = f"ran code: {ran[:1]}", str(ran)
            ran.clear()
            if trap.exists():
                trap.rmdir()
        counts[outcome] += 1
        if text and counts[outcome] == 1:
            keep(given, folder, number, outcome, text)
        if name in readers.good:
            (folder / name).write_bytes(readers.good[name])
        else:
            (folder / name).unlink(missing_ok=True)
        if number % 500 == 499:
            (Path(given.work) / "counts").write_text(json.dumps(counts))
    (Path(given.work) / "counts").write_text(json.dumps(counts))


def outcome_of(read: Callable, name: str, watching: list[bool]) -> tuple[str, str]:
    """What came of an input, and a text where that must not be."""
    watching[0] = True
    try:
        read(name)
        return "read", ""
    except FINE as error:
        return ("refused", "") if str(error) else ("refused without a word", "no message")
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        mine = [x for x in frames if "jaxneuro" in x.filename and "scripts" not in x.filename]
        where = f"{Path(mine[-1].filename).name}:{mine[-1].lineno}" if mine else "?"
        return f"{type(error).__name__} at {where}", traceback.format_exc()
    finally:
        watching[0] = False


def keep(given: argparse.Namespace, folder: Path, number: int, outcome: str, text: str) -> None:
    """Keeps the files of an input, and says what it did."""
    kept = Path(given.out) / f"{given.reader}-{given.seed}-{number}"
    shutil.copytree(folder, kept, dirs_exist_ok=True)
    print(f"input {number}: {outcome}\n{text}\nits files: {kept}", flush=True)


def watched(given: argparse.Namespace) -> bool:
    """Runs the process that reads, again after a crash; whether all inputs ended well."""
    total: collections.Counter[str] = collections.Counter()
    begin, first, crashes = time.monotonic(), 0, 0
    given.work = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    while first < given.inputs:
        shutil.rmtree(Path(given.work) / "files", ignore_errors=True)
        (Path(given.work) / "files").mkdir()
        (Path(given.work) / "at").write_bytes(first.to_bytes(8, "little"))
        (Path(given.work) / "counts").write_text("{}")
        left = max(given.seconds - (time.monotonic() - begin), 0.0)
        options = [f"--seconds={left}"]
        options += [
            f"--{k}={getattr(given, k)}" for k in ("reader", "inputs", "seed", "out", "work")
        ]
        command = [sys.executable, "-X", "faulthandler", __file__, *options, f"--first={first}"]
        code = subprocess.call(command)
        total.update(json.loads((Path(given.work) / "counts").read_text()))
        if code == 0:
            break
        number = int.from_bytes((Path(given.work) / "at").read_bytes(), "little")
        if code > 0 and number == first:
            raise SystemExit("the process that reads does not begin")
        total[f"crash {code}"] += 1
        keep(given, Path(given.work) / "files", number, f"crash {code}", "")
        first, crashes = number + 1, crashes + 1
        if crashes == CRASHES:
            break
    shutil.rmtree(given.work)
    seconds = time.monotonic() - begin
    print(f"{given.reader}: {total.total()} inputs, seed {given.seed}, {seconds:.0f} s")
    for outcome, count in total.most_common():
        print(f"{count:9} {outcome}")
    return total.keys() <= {"read", "refused"}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reader", choices=NAMES, required=True)
    parser.add_argument("--inputs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=math.inf, help="after which it ends")
    parser.add_argument("--out", default="fuzzed", help="where the files of failures go")
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        return work(given)
    sys.exit(not watched(given))


if __name__ == "__main__":
    main()
