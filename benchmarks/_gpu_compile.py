"""Programs compiled for a card that is not there, and what XLA and ptxas made of them."""

import importlib
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ._cards import Card, target_config

_DUMP = Path(tempfile.gettempdir()) / f"jaxneuro-gpu-{os.getpid()}"
# Numbers per neuron above which an array is a table, a ring or a log: a step visits a part of it.
_MOST = 4


class Kernel(NamedTuple):
    """What ptxas says of one of our kernels: registers, spilled and shared bytes."""

    registers: int
    spilled: int
    shared: int


class Compiled(NamedTuple):
    """A program compiled for a card.

    Attributes:
        launches: of one step: of the body of its loop, those of loops inside as often as they run.
        kernels: ours, by name.
        copied: bytes of the arrays that the loop copies.
        moved: bytes per step of arrays with a few numbers per neuron.
        buffered: what is a command buffer: the `loop`, its `step`, or nothing.
        said: lines of the package's log.
    """

    launches: int
    kernels: dict[str, Kernel]
    copied: int
    moved: int
    buffered: str
    said: list[str]


def prepare() -> None:
    """Before JAX is imported."""
    os.environ["JAX_SKIP_CUDA_CONSTRAINTS_CHECK"] = "1"
    os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "0"


def compile_for(
    card: Card, function: Callable, args: Any, n: int, options: dict | None = None
) -> Compiled:
    """`function(*args)` for a card; `n` neurons."""
    import jax
    from jax.experimental import topologies

    config = target_config(card)
    topology = topologies.get_topology_desc("1x1x1", "cuda", topology="1x1x1", target_config=config)
    mesh = jax.sharding.Mesh([topology.devices[0]], ("x",))
    everywhere = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())

    def shaped(x: Any) -> Any:
        x = jax.numpy.asarray(x)
        return jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=everywhere)

    def for_card(*args: Any) -> Any:
        return function(*args)

    said = _Lines()
    log = logging.getLogger("jaxneuro")
    log.setLevel(logging.INFO)
    log.addHandler(said)
    shutil.rmtree(_DUMP, ignore_errors=True)
    try:
        with jax.sharding.use_abstract_mesh(mesh.abstract_mesh):
            lowered = jax.jit(for_card).lower(*jax.tree.map(shaped, args))
        dump = {"xla_dump_to": str(_DUMP), "xla_dump_hlo_as_text": True}
        text = lowered.compile(compiler_options=dump | (options or {})).as_text()
        return _facts(str(text), n, said.lines)
    finally:
        log.removeHandler(said)
        shutil.rmtree(_DUMP, ignore_errors=True)


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def _facts(text: str, n: int, said: list[str]) -> Compiled:
    from ._gpu_kernels import all_launches

    body = _body(text)
    sizes = {m[1]: m[2] for line in body for m in [_instruction(line)] if m}
    copies = [sizes[m[1]] for line in body for m in [_instruction(line)] if m and m[3] == "copy"]
    (thunks, *_) = sorted(_DUMP.glob("*thunk_sequence*"), key=lambda path: -len(path.name))
    return Compiled(
        launches=all_launches(text) or 1,  # without a loop one launch does all steps
        kernels=_kernels(sorted(_DUMP.glob("*.ptx"))),
        copied=sum(_bytes(x)[0] for x in copies),
        moved=_moved(body, sizes, n),
        buffered=_buffered(thunks.read_text()),
        said=said,
    )


def _body(text: str) -> list[str]:
    """The lines of the body of the longest loop."""
    from ._gpu_kernels import computations

    by_name = computations(text)
    bodies = (by_name[name] for name in set(re.findall(r"body=%([\w.\-]+)", text)))
    return max(bodies, key=len, default=[])


def _instruction(line: str) -> Any:
    """Name, shape and operation."""
    return re.match(r"\s*(?:ROOT )?%(\S+) = (.*?)\s([a-z][a-z\-]*)\(", line)


def _bytes(shape: str, most: float = float("inf")) -> list[int]:
    """Of every array in a shape that has `most` numbers at most."""
    out = []
    for kind, dims in re.findall(r"\b(pred|[a-z]+\d+)\[([\d,]*)\]", shape):
        numbers = 1
        for x in filter(None, dims.split(",")):
            numbers *= int(x)
        if numbers <= most:
            out.append(numbers * (1 if kind == "pred" else int(re.sub(r"\D", "", kind)) // 8))
    return out or [0]


def _moved(body: list[str], sizes: dict[str, str], n: int) -> int:
    total = 0
    for line in body:
        found = _instruction(line)
        if found and found[3] in ("fusion", "custom-call", "copy"):
            read = re.findall(r"%([\w.\-]+)", line[found.end() :].split("), ")[0])
            shapes = [found[2], *(sizes.get(name, "") for name in read)]
            total += sum(sum(_bytes(x, _MOST * n)) for x in shapes)
    return total


def _buffered(thunks: str) -> str:
    """What of the first loop is a command buffer: the `loop`, its `step`, or nothing."""
    lines = thunks.splitlines()
    at = next((k for k, line in enumerate(lines) if "kWhile" in line), None)
    if at is None:
        return ""
    indent = [len(line) - len(line.lstrip()) for line in lines]
    buffers = [k for k, line in enumerate(lines) if "kCommandBuffer" in line]
    if any(k < at and indent[k] < indent[at] for k in buffers):
        return "loop"
    end = next(
        (k for k in range(at + 1, len(lines)) if re.match(r"\d", lines[k][indent[at] :])), at
    )
    return "step" if any(at < k < end for k in buffers) else ""


def _kernels(files: list[Path]) -> dict[str, Kernel]:
    """Registers of our kernels, which have their names; those of XLA have names of operations."""
    ptxas = Path(importlib.import_module("nvidia.cuda_nvcc").__path__[0]) / "bin" / "ptxas"
    out = {}
    for ptx in files:
        arch = re.search(r"\.target (sm_\w+)", ptx.read_text())
        assert arch is not None
        command = [str(ptxas), "-v", "-arch", arch[1], str(ptx), "-o", os.devnull]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
        for part in re.split(r"Compiling entry function ", said)[1:]:
            name = re.match(r"'(\w+)'", part)
            if name is None or re.match(r"(loop|input|wrapped|copy|transpose|concat)_", name[1]):
                continue
            wanted = (r"Used (\d+) reg", r"(\d+) bytes spill stores", r"(\d+) bytes smem")
            numbers = [re.search(x, part) for x in wanted]
            out[name[1]] = Kernel(*(int(x[1]) if x else 0 for x in numbers))
    return out


def versions() -> str:
    import jax

    return f"jax {jax.__version__}, Python {sys.version_info[0]}.{sys.version_info[1]}"
