"""All measurements that need a GPU: checks, races, times, kernels per step."""

import argparse
import contextlib
import functools
import itertools
import json
import platform
import sys
import time
import traceback
from collections.abc import Iterator
from typing import Any

__all__ = ["add_options", "run"]

PARTS = ("smoke", "races", "kernels", "deliver", "learn", "walk", "assemblies", "coba")
PARTS += ("microcircuit", "gradient", "lattices", "devices")
CHECKED = ("smoke", "races", "learn", "walk", "assemblies", "gradient", "lattices", "devices")
BUDGET_S = 450.0


def add_options(parser: argparse.ArgumentParser) -> None:
    """What to run, where to write, and a rehearsal without a card."""
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--checks", action="store_true", help="the checks of the parts alone")
    parser.add_argument("--out", help="a file to add the JSON lines to")
    parser.add_argument("--scale", type=float, default=1.0, help="of the microcircuit")
    parser.add_argument("--seconds", type=float, default=1.0, help="biological time of each run")
    parser.add_argument(
        "--interpret", action="store_true", help="a tiny rehearsal on the CPU, not a measurement"
    )


class Session:
    """One run of this script: its output, the failures, and the time that is left."""

    def __init__(self, options: argparse.Namespace):
        import jax

        self.options, self.start, self.failed = options, time.perf_counter(), []
        self.device = str(jax.devices()[0].device_kind)
        self.versions = {"python": platform.python_version(), **_versions()}

    def left(self) -> float:
        return BUDGET_S - (time.perf_counter() - self.start)

    def write(self, line: dict[str, Any]) -> None:
        """Writes one JSON line to stdout and to the file at once, so that a crash loses nothing."""
        line = {**line, "device": self.device, "versions": self.versions}
        text = json.dumps(line)
        print(text, flush=True)
        if self.options.out:
            with open(self.options.out, "a", encoding="utf-8") as file:
                file.write(text + "\n")

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Runs one part; a failure is printed and remembered, and the next part runs."""
        say(f"--- {name} ({self.left():.0f} s left)")
        try:
            yield
        except Exception:
            traceback.print_exc()
            self.failed.append(name)


def run(options: argparse.Namespace) -> None:
    """Runs the parts; exits with 2 without a GPU and with 1 if a check failed."""
    import jax

    from jaxneuro._kernels.native import native_available

    if jax.default_backend() != "gpu" and not options.interpret:
        found = ", ".join(str(d) for d in jax.devices())
        say(f"no GPU: this measures one, and JAX has only {found} here (--interpret rehearses)")
        raise SystemExit(2)
    session = Session(options)
    say(f"{session.device}, {session.versions}")
    if not native_available():
        say("no native CPU kernels here: construction, which uses them, takes much longer")
    for name in options.parts:
        if options.checks and name not in CHECKED:
            continue
        with session.part(name):
            globals()[f"_{name}"](session)
    say(f"took {BUDGET_S - session.left():.0f} s; failed: {', '.join(session.failed) or 'nothing'}")
    if session.failed:
        raise SystemExit(1)


def say(text: str) -> None:
    """A line for the user, on stderr."""
    print(text, file=sys.stderr, flush=True)


def _versions() -> dict[str, str]:
    import importlib.metadata as metadata

    import jax

    out = {"jax": jax.__version__}
    for name in ("jaxneuro", "jaxlib", "numpy", "jax-cuda13-plugin", "jax-cuda12-plugin"):
        with contextlib.suppress(metadata.PackageNotFoundError):  # run from a bare checkout
            out[name] = metadata.version(name)
    return out


def _check(session: Session, name: str, results: Iterator[tuple[str, bool]]) -> None:
    wrong = []
    total = 0
    for what, right in results:
        total += 1
        if not right:
            wrong.append(what)
            say(f"WRONG: {what}")
    session.write({"bench": "gpu", "part": name, "checks": total, "wrong": wrong})
    if wrong:
        session.failed.append(name)


def _smoke(session: Session) -> None:
    from ._gpu_checks import drawn, smoke

    small = session.options.interpret
    _check(session, "smoke", itertools.chain(smoke(small), drawn(small)))


def _races(session: Session) -> None:
    from ._gpu_checks import races

    _check(session, "races", races(session.options.interpret))


def _kernels(session: Session) -> None:
    """Launches in a turn of the compiled loop, command buffers on and off, and their time."""
    import jaxneuro as jn

    from ._gpu_kernels import NO_COMMAND_BUFFERS, compiled_scan, device_us, launches, seconds
    from ._run import DT

    small = session.options.interpret
    n_steps = 20 if small else 5000
    for name, description in _networks(small, session.options.scale):
        net = jn.build(description, key=1, dt=DT)
        for buffers in (True,) if small else (True, False):
            program, args = compiled_scan(net, n_steps, None if buffers else NO_COMMAND_BUFFERS)
            kernels = launches(program.as_text())
            call = functools.partial(program, *args)
            taken, on_card = seconds(call), {} if small else device_us(call, n_steps)
            session.write(
                {
                    "bench": "gpu",
                    "part": "kernels",
                    "network": name,
                    "command_buffers": buffers,
                    "kernels_per_turn": len(kernels),
                    "kernels": kernels,
                    "us_per_step": round(taken / n_steps * 1e6, 3),
                    "us_on_the_card": round(sum(on_card.values()), 3),
                    "us_of_kernels": on_card,
                }
            )


def _networks(small: bool, scale: float) -> Iterator[tuple[str, Any]]:
    """Networks whose steps are looked at: static ones and one with a Poisson background."""
    from ._balanced import coba

    for neurons in (200,) if small else (4000, 400_000):
        yield f"coba {neurons}", coba(neurons)
    with contextlib.suppress(ImportError):
        from examples.cortical_microcircuit import description

        scale = 0.01 if small else scale
        for drive in ("dc", "poisson"):
            yield f"microcircuit {scale:g} {drive}", description(scale, drive)


def _deliver(session: Session) -> None:
    """The kernel alone at several sizes: as it is, divided otherwise, ordered adds, plain XLA."""
    from jaxneuro._kernels import gpu_deliver
    from jaxneuro._kernels.deliver_reference import deliver_reference

    from ._gpu_kernels import delivery_us, pathway

    small = session.options.interpret
    sizes = [(4_000, 80, False), (100_000, 80, False), (40_000, 2_000, True)]
    for neurons, inputs, own in [(100, 10, True)] if small else sizes:
        net = pathway(neurons, inputs, own)
        (p,) = net.pathways

        def kernel(*args, **how):
            return gpu_deliver.deliver_pallas(*args, **how, interpret=small)

        chosen = gpu_deliver.grid_of(p.table)
        line = {"bench": "gpu", "part": "deliver", "neurons": neurons, "synapses": net.n_synapses}
        for part in (0.002, 1.0):
            steps = 3 if small else 1000 if part < 1 else 50
            us = {"pallas": delivery_us(net, part, steps, kernel)}
            for grid in _grids(chosen, small):
                us[f"rows {grid.rows}, lanes {grid.lanes}, segments {grid.segments}"] = delivery_us(
                    net, part, steps, lambda *args, grid=grid: kernel(*args, grid=grid)
                )
            ordered = functools.partial(kernel, ordered=True)
            us["ordered adds"] = delivery_us(net, part, steps, ordered)
            if neurons <= 4_000 or session.left() > 300:
                us["plain XLA"] = delivery_us(net, part, 3, deliver_reference)
            us = {name: round(value, 3) for name, value in us.items()}
            events = round(part * net.n_synapses)
            session.write({**line, "part_firing": part, "events": events, "us": us})


def _learn(session: Session) -> None:
    """Plastic pathways: checks, and times of that of the HPC benchmark, also divided otherwise."""
    from jaxneuro._kernels import gpu_learn
    from jaxneuro._kernels.native import native_available

    from ._gpu_learn import checks, hpc_network, learning_us, version_of
    from ._run import DT

    small = session.options.interpret
    _check(session, "learn", checks(small))
    if session.options.checks:
        return
    scale = 0.01 if small else 1.0 if native_available() else 0.1  # the host draws connections
    net = hpc_network(scale)
    chosen = gpu_learn.learn_grid(net.pathways[0].table)
    line = {"bench": "gpu", "part": "learn", "neurons": net.n_neurons, "synapses": net.n_synapses}
    steps = 3 if small else 2000
    for per_ms in (7.0 * scale, 70.0 * scale):  # spikes of all neurons, 7 Hz is 79
        us = {"pallas": learning_us(net, per_ms, steps, version_of(small))}
        for grid in _grids(chosen, small):
            name = f"rows {grid.rows}, lanes {grid.lanes}, segments {grid.segments}"
            us[name] = learning_us(net, per_ms, steps, version_of(small, grid=grid))
        us["ordered adds"] = learning_us(net, per_ms, steps, version_of(small, ordered=True))
        factor = us["pallas"] / (DT * 1e3)
        us = {name: round(value, 3) for name, value in us.items()}
        session.write({**line, "spikes_per_ms": per_ms, "us": us, "real_time_factor": factor})
    every = learning_us(net, 7.0 * scale, 3 if small else 50, version_of(small), flush=True)
    session.write({**line, "every_row": True, "us": {"pallas": round(every, 3)}})


def _assemblies(session: Session) -> None:
    """Rounds, inputs and caps of assemblies: checks, times, and a table of these."""
    from ._gpu_assemblies import caps, checks, inputs, projections, rounded, table

    small, lines = session.options.interpret, []
    _check(session, "assemblies", checks(small))
    if session.options.checks:
        return
    for line in itertools.chain(projections(small, session.left), inputs(small), caps(small)):
        lines.append(line)
        session.write({"bench": "gpu", "part": "assemblies", **rounded(line)})
    for text in table(lines):
        say(text)


def _grids(chosen: Any, small: bool) -> list[Any]:
    """Other ways to divide the work, one thing changed at a time."""
    if small:
        return [chosen._replace(segments=chosen.segments + 1)]
    rows = [chosen._replace(rows=r) for r in (16, 64, 256) if r != chosen.rows]
    lanes = [chosen._replace(lanes=n) for n in (128, 256, 512) if n != chosen.lanes]
    segments = [chosen._replace(segments=s) for s in (1, 4, 16) if s != chosen.segments]
    return rows + lanes + segments


def _walk(session: Session) -> None:
    """Unconnected squid axons: all steps in one launch, divided in several ways, and the loop."""
    from jaxneuro.integrators import exponential_euler, rk4

    from ._gpu_kernels import seconds, unconnected, walked_and_looped

    small = session.options.interpret
    neurons, n_steps = (40, 100) if small else (10_000, 5_000)
    for method in (rk4, exponential_euler):
        net, inputs = unconnected(neurons, method, n_steps)
        args = net, net.init(1), inputs
        name = type(method).__name__
        ways = {
            n: walked_and_looped(n_steps, small, n)
            for n in (32, 64, 128, 256)[: 1 + 3 * (not small)]
        }
        loop = next(iter(ways.values()))[1]
        want = loop(*args)
        _check(
            session,
            f"walk {name}",
            ((f"lanes {n}", _agrees(f[0](*args), want)) for n, f in ways.items()),
        )
        if session.options.checks:
            continue
        took = {f"lanes {n}": seconds(lambda f=f[0], a=args: f(*a)) for n, f in ways.items()}
        took["loop"] = seconds(lambda f=loop, a=args: f(*a))
        us = {way: round(s / n_steps * 1e6, 3) for way, s in took.items()}
        session.write(
            {
                "bench": "gpu",
                "part": "walk",
                "method": name,
                "neurons": neurons,
                "steps": n_steps,
                "us_per_step": us,
            }
        )


def _agrees(got: Any, want: Any) -> bool:
    """Whether v and nearly all spikes agree; rounding may move a spike by one step."""
    import numpy as np

    (bits, v), (bits_want, v_want) = (map(np.asarray, x) for x in (got, want))
    moved = int(np.bitwise_count(bits ^ bits_want).sum())
    spikes = int(np.bitwise_count(bits_want).sum())
    near = np.abs(v - v_want) < 0.1  # mV
    return bool(moved <= 0.02 * spikes and near.mean() > 0.99)


def _coba(session: Session) -> None:
    from ._balanced import coba

    for neurons in (200,) if session.options.interpret else (4_000, 40_000, 400_000):
        _network(session, "coba", coba(neurons))


def _microcircuit(session: Session) -> None:
    from jaxneuro._kernels.native import native_available

    try:
        from examples.cortical_microcircuit import description
    except ImportError as error:
        say(f"skipped: {error}")
        return
    if session.left() < 60:
        say("skipped: too little of the time is left")
        return
    scale = 0.01 if session.options.interpret else session.options.scale
    if not native_available():
        scale = min(scale, 0.1)  # else construction alone would take minutes
    for drive in ("poisson", "dc"):
        _network(session, f"microcircuit {scale:g} {drive}", description(scale, drive))


def _gradient(session: Session) -> None:
    """Cotangents of spikes checked; COBA's gradient timed by gains and weights, and of a batch."""
    from . import gradient
    from ._gpu_checks import cotangents

    small = session.options.interpret
    _check(session, "gradient", cotangents(small))
    if session.options.checks:
        return
    size = "--neurons 200 --steps 20 --repeats 1" if small else "--neurons 4000"
    for form in ("", "--surrogate", "--surrogate --by weights", "--surrogate --batch 64"):
        if session.left() < 60:
            say("skipped: too little of the time is left")
            return
        parser = argparse.ArgumentParser()
        gradient.add_options(parser)
        options = parser.parse_args(f"{size} {form}".split())
        options.threads = session.options.threads
        session.write({**gradient.measured(options), "bench": "gpu", "part": "gradient"})


def _lattices(session: Session) -> None:
    """Lattices with gap junctions: row sums and a lattice checked, then each side timed."""
    from . import _gpu_lattices, lattices

    small = session.options.interpret
    _check(session, "lattices", _gpu_lattices.checks(small))
    if session.options.checks:
        return
    for side in (6,) if small else lattices.SIDES:
        _network(session, f"lattice {side}", lattices.description(side))


def _devices(session: Session) -> None:
    """One network over 1, 2 ... all cards: the same spikes, and time per step."""
    from ._gpu_devices import checks, scaling

    _check(session, "devices", checks(session.options.interpret))
    if session.options.checks:
        return
    for line in scaling(session.options, session.left, say):
        session.write({**line, "part": "devices"})


def _network(session: Session, bench: str, description: Any) -> None:
    """Builds, compiles and runs a network three times; writes the median."""
    import statistics

    import jaxneuro as jn

    from ._gpu_kernels import events_of
    from ._record import make_record, peak_rss_mb
    from ._run import DT, connections_of
    from .predict_gpu import beside

    bio_s = 0.01 if session.options.interpret else session.options.seconds
    start = time.perf_counter()
    net = jn.build(description, key=1, dt=DT)
    build_s = time.perf_counter() - start
    say(f"{bench}: {net}, built in {build_s:.1f} s")
    runs = [jn.simulate(net, 1e3 * bio_s, key=1, progress=False) for _ in range(4)]
    wall = statistics.median_low(r.run_s for r in runs[1:])
    result = next(r for r in runs[1:] if r.run_s == wall)
    spikes = {name: result.events(name)[0].size for name in net.populations}
    record = make_record(
        bench=f"gpu {bench}",
        impl="jaxneuro",
        neurons=net.n_neurons,
        synapses=connections_of(net),
        dt_ms=DT,
        bio_s=bio_s,
        wall_s=wall,
        build_s=build_s,
        compile_s=runs[0].compile_s,
        rate_hz=sum(spikes.values()) / net.n_neurons / bio_s,
        peak_rss_mb=peak_rss_mb(),
        threads=session.options.threads,
        device=session.device,
    )
    us = {"us_per_step": round(wall / (bio_s * 1e3 / DT) * 1e6, 2)}
    us |= beside(record["bench"], net.n_neurons, session.device)
    rate = {"events_per_s": float(f"{events_of(net, spikes) / wall:.4g}")}
    session.write({**record, **us, **rate})
