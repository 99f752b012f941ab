"""Runs a network from a file, or prints what the file contains."""

import argparse
import importlib.util
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import jaxneuro as jn

from ._describe.part import end_name
from ._disk.arrays import read_npy
from ._kernels.installed import installed
from ._numerics import grid
from ._text import megabytes

_EPILOG = """examples:
  python -m jaxneuro info
  python -m jaxneuro info net.toml
  python -m jaxneuro run net.toml --seconds 2 --out result.npz --figure raster.png
  python -m jaxneuro run net.json --record E:v "I->E:current" --interval 1 --out result.npz
  python -m jaxneuro run net.json --input reward=reward.npy --out result.npz
  python -m jaxneuro models

docs/network_files.md describes network files. Compiled programs are kept in ~/.cache/jaxneuro, so
that a second run starts sooner. Ctrl-C ends a run early and keeps what was recorded
until then. The exit code is 0, or 2 after an error, or 130 after Ctrl-C."""


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    parser = _parser()
    args, rest = parser.parse_known_args(arguments)
    if rest:  # with the usage of the command, not of all
        args.parser.error(f"unrecognized arguments: {' '.join(rest)}")
    try:
        code = args.command(args)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return _fail("interrupted before anything was recorded", 130)
    except BrokenPipeError:  # `| head` has read enough: what is left goes nowhere, without a word
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + 13  # as a process that SIGPIPE ended
    except (ValueError, OSError, ImportError) as error:
        return _fail(str(error))
    # A model of the user may raise anything; the type of the error says where to look.
    except Exception as error:
        return _fail(f"{type(error).__name__}: {error}")


def _fail(message: str, code: int = 2) -> int:
    print(f"jaxneuro: {(message.splitlines() or [''])[0]}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m jaxneuro", description=__doc__, epilog=_EPILOG)
    parser.formatter_class = raw
    parser.add_argument("--version", action="version", version=f"jaxneuro {jn.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    run = commands.add_parser(
        "run", help="run a network and print a summary", epilog=_EPILOG, formatter_class=raw
    )
    run.set_defaults(command=_run, parser=run)
    run.add_argument("file", help="the network: a .json or .toml file")
    run.add_argument("--seconds", type=float, default=1.0, help="biological time (default 1)")
    run.add_argument("--dt", type=float, default=0.1, help="time step in ms (default 0.1)")
    run.add_argument(
        "--seed", type=int, default=0, help="seed of connections, start values, noise (default 0)"
    )
    run.add_argument("--out", type=Path, metavar="FILE", help="save the result: an .npz file")
    run.add_argument(
        "--save",
        type=Path,
        metavar="FOLDER",
        help="keep the run in a folder: the same command goes on after a crash (with --every)",
    )
    run.add_argument("--every", type=float, metavar="MS", help="how long an interval of --save is")
    run.add_argument(
        "--record",
        nargs="+",
        default=[],
        metavar="NAME:VARIABLE",
        help="state variables to record into --out or --save, beside the spikes: E:v is v of "
        "population E; for a projection or a stimulation that sends spikes, they are those of its "
        "receptor",
    )
    run.add_argument(
        "--interval", type=float, metavar="MS", help="between two samples of --record (default dt)"
    )
    run.add_argument(
        "--input",
        nargs="+",
        default=[],
        metavar="NAME=VALUE",
        help="inputs: a signal of a modulator or a rule of plasticity, or a current [pA] "
        "into a population; a number, or an .npy file with one per step",
    )
    run.add_argument("--figure", type=Path, metavar="FILE", help="save a raster plot: .png, .pdf")
    _add_max_mb(run)

    info = commands.add_parser(
        "info", help="print what a network has, without building it; without a file, what is here"
    )
    info.set_defaults(command=_info, parser=info)
    info.add_argument(
        "file",
        nargs="?",
        help="the network: a .json or .toml file; without one, versions, native kernels, features "
        "of the CPU, threads and devices",
    )
    _add_max_mb(info)

    models = commands.add_parser("models", help="print the models that a network file can name")
    models.set_defaults(command=_models, parser=models)
    return parser


def _add_max_mb(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--max-mb", type=float, default=64.0, metavar="MB", help="largest file read (default 64)"
    )


def _run(args: argparse.Namespace) -> int:
    jn.configure_cpu(cache=True)
    duration = _duration(args)
    record = _record(args)
    _check_files(args)
    inputs = _inputs(args.input, round(duration / args.dt))
    description = jn.io.read_description(args.file, max_mb=args.max_mb)
    of = description
    sending = [s for s in of.stimuli if s.synapse is not None]  # only these have a receptor
    graded = [c for c in of.couplings if not c.electrical]
    every = (*of.populations, *of.projections, *sending, *graded, *of.modulators)
    known = [x.name for x in every]
    for name in record.variables:
        if name not in known:
            raise ValueError(
                f"--record: there is no population, projection, stimulation of spikes, graded "
                f"coupling or modulator {name!r} in {args.file}; there are {', '.join(known[:20])}"
            )
    start = time.perf_counter()
    net = jn.build(description, args.seed, args.dt)
    build_s = time.perf_counter() - start
    missing = [name for name in net.signals if name not in inputs]
    if missing:
        raise ValueError(
            f"{args.file} needs the signal {missing[0]!r}; give --input {missing[0]}=0.0, or an "
            ".npy file with a number per step"
        )
    try:
        saved = {"save": args.save, "every": args.every}
        result = jn.simulate(net, duration, inputs=inputs, record=record, key=args.seed, **saved)
    except jn.Interrupted as stop:
        result = stop.result
    except jn.NonFiniteError as error:
        _save(error.result, args.out)
        raise
    _save(result, args.out)
    print(jn.analysis.summary(result, build_s))
    if args.figure is not None:
        jn.plot.raster(result).savefig(args.figure, dpi=200)
        print(f"wrote {args.figure}")
    return 130 if result.interrupted else 0


def _duration(args: argparse.Namespace) -> float:
    """The time to run [ms], on the grid of dt."""
    dt = grid.check_dt(args.dt)
    duration = 1e3 * args.seconds
    if not 0 < duration < float("inf"):
        raise ValueError(
            f"--seconds must be a finite number above 0; got {args.seconds}. The command info "
            "reads a file without running it"
        )
    grid.steps_on_grid("--seconds, in ms,", duration, dt)
    return duration


def _record(args: argparse.Namespace) -> Any:
    variables: dict[str, list[str]] = {}
    for text in args.record:
        name, colon, variable = text.rpartition(":")
        if not (name and colon and variable):
            raise ValueError(f"--record must be NAME:VARIABLE, such as E:v; got {text!r}")
        variables.setdefault(name, []).append(variable)
    if variables and args.out is None and args.save is None:
        raise ValueError(
            "--record needs --out FILE.npz or --save FOLDER, where what is recorded goes"
        )
    if args.interval is None:
        return jn.Record(variables=variables)
    if not variables:
        raise ValueError(
            "--interval needs --record NAME:VARIABLE, whose samples it sets; spikes are recorded "
            "in every step"
        )
    return jn.Record(variables=variables, interval=args.interval)


def _inputs(given: list[str], steps: int) -> dict[str, np.ndarray]:
    """Inputs of a run by name, (steps,) or as a file has them."""
    out: dict[str, np.ndarray] = {}
    for text in given:
        name, equals, value = text.rpartition("=")
        if not (name and equals and value):
            raise ValueError(f"--input must be NAME=VALUE, such as reward=0.1; got {text!r}")
        if value.endswith(".npy"):
            if not Path(value).is_file():
                raise ValueError(f"--input {name}: {value}: there is no such file")
            out[name] = read_npy(f"--input {name}", Path(value))
            continue
        try:
            out[name] = np.full(steps, float(value))
        except ValueError:
            raise ValueError(
                f"--input {name} must be a number or an .npy file; got {value!r}"
            ) from None
    return out


def _check_files(args: argparse.Namespace) -> None:
    """Raises `ValueError` for files that could not be written at the end."""
    for option, path in (("--out", args.out), ("--figure", args.figure)):
        if path is not None:
            _check_writable(option, path)
    if args.out is not None and args.out.suffix != ".npz":
        table = args.out.with_suffix(".csv").name
        raise ValueError(
            f"--out must end in .npz; got {args.out}. For a table of spikes, in Python: "
            f"jn.Result.load({args.out.with_suffix('.npz').name!r}).to_pandas().to_csv({table!r})"
        )
    if args.figure is not None:
        _check_figure(args.figure)


def _check_writable(option: str, path: Path) -> None:
    folder = path.parent
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ValueError(f"{option} must name a file in a folder that can be written; got {path}")


def _check_figure(path: Path) -> None:
    if importlib.util.find_spec("matplotlib") is None:
        raise ValueError("--figure needs matplotlib: pip install matplotlib")
    from matplotlib.figure import Figure

    known = Figure().canvas.get_supported_filetypes()
    if path.suffix.lower().removeprefix(".") not in known:
        raise ValueError(f"--figure must end in one of .{', .'.join(known)}; got {path}")


def _save(result: Any, path: Path | None) -> None:
    if path is not None:
        result.save(path)
        print(f"wrote {path}")


def _info(args: argparse.Namespace) -> int:
    if args.file is None:
        for name, text in installed():
            print(f"{name:<14}  {text}")
        return 0
    description = jn.io.read_description(args.file, max_mb=args.max_mb)
    estimate = description.estimate()
    sizes = {p.name: p for p in estimate.projections}
    print(description)
    rows = [
        (
            p.name,
            f"{p.n:,}",
            type(p.model).__name__,
            type(p.positions).__name__ * (p.positions is not None),
        )
        for p in description.populations
    ]
    _table(("population", "neurons", "model", "positions"), rows)
    rows = [
        (
            p.name,
            f"{sizes[p.name].synapses:,}",
            megabytes(sizes[p.name].bytes),
            type(p.rule).__name__,
            type(p.synapse).__name__,
        )
        for p in description.projections
    ]
    _table(
        ("projection", "synapses", "memory", "rule", "synapse"),
        _with_total(rows, description.projections, sizes),
    )
    _print_couplings(description, sizes)
    rows = [(s.name, type(s.stimulus).__name__, s.post.population) for s in description.stimuli]
    _table(("stimulation", "stimulus", "target"), rows)
    rows = [
        (
            m.name,
            "" if m.source is None else end_name(m.source),
            m.signal or "",
            ", ".join(f"{name}: {' '.join(keys)}" for name, keys in m.scales.items()),
        )
        for m in description.modulators
    ]
    _table(("modulator", "source", "signal", "scales"), rows)
    return 0


def _print_couplings(description: Any, sizes: dict[str, Any]) -> None:
    rows = [
        (
            c.name,
            f"{sizes[c.name].synapses:,}",
            megabytes(sizes[c.name].bytes),
            type(c.rule).__name__,
            "gap junctions" if c.electrical else type(c.release).__name__,
            "" if c.electrical else type(c.synapse).__name__,
        )
        for c in description.couplings
    ]
    head = ("coupling", "neighbours", "memory", "rule", "release", "synapse")
    _table(head, _with_total(rows, description.couplings, sizes))


def _with_total(rows: list[tuple[str, ...]], things: Any, sizes: dict[str, Any]) -> list:
    """The rows of projections or couplings, and one for all of them."""
    parts = [sizes[x.name] for x in things]
    total = f"{sum(p.synapses for p in parts):,}", megabytes(sum(p.bytes for p in parts))
    return [*rows, ("in all", *total, *[""] * (len(rows[0]) - 3))] if rows else []


def _models(args: argparse.Namespace) -> int:
    print(jn.io.list_models())
    return 0


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    """Prints rows under a head; columns of numbers to the right."""
    if not rows:
        return
    widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head))]
    print()
    for row in (head, *rows):
        cells = (
            x.rjust(w) if h in ("neurons", "synapses", "neighbours", "memory") else x.ljust(w)
            for x, w, h in zip(row, widths, head)
        )
        print("  ".join(cells).rstrip())


if __name__ == "__main__":
    sys.exit(main())
