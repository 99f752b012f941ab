"""Every neuron model: nanoseconds per update, and a lower bound from its arithmetic.

The bound counts the operations of one step as XLA gets them: common ones once, and those that are
the same in every step not at all. It multiplies them by the time of each in a loop of its own,
measured in the same run. It leaves out reading and writing arrays.
"""

import collections
import json
import statistics
import time
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

import jaxneuro as jn
from jaxneuro._network.group import initial_state

from ._record import cpu_device
from ._run import versions

__all__ = ["add_options", "run"]

OPTIONS = {
    "xla_cpu_copy_insertion_use_region_analysis": True,
    "xla_cpu_prefer_vector_width": 512,
}
# Operations that cost more than an addition, by the loop that times them.
PRICED = {
    "exp": lambda x: jnp.exp(-0.3 * x),
    "expm1": lambda x: jnp.expm1(-0.3 * x) + 1.1,
    "log": lambda x: jnp.log(x + 1.9),
    "tanh": lambda x: jnp.tanh(x) + 0.3,
    "cosh": lambda x: 1.0 / jnp.cosh(x) + 0.1,
    "cbrt": lambda x: jnp.cbrt(x + 0.1),
    "pow": lambda x: jnp.power(x + 0.5, 0.3 + 0.1 * x),
    "div": lambda x: 1.0 / (x + 1.0),
}
FREE = {"broadcast_in_dim", "convert_element_type", "reshape", "squeeze", "slice", "copy"}
DT = {"HodgkinHuxley": 0.01, "WangBuzsaki": 0.01, "MorrisLecar": 0.05, "HindmarshRose": 0.02}


def add_options(parser) -> None:
    """The options of this benchmark."""
    parser.add_argument("--neurons", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5, help="runs after one warm-up")
    parser.add_argument("--models", nargs="*", default=[], help="default: all")


def run(options) -> None:
    """One JSON line per model."""
    prices = _prices(options)
    for name, model in models().items():
        if options.models and name not in options.models:
            continue
        seconds = _timed(model, DT.get(name, 0.1), options)
        counts = _counts(model, DT.get(name, 0.1))
        bound = sum(prices.get(op, prices["add"]) * k for op, k in counts.items())
        line = {
            "bench": "neurons",
            "model": name,
            "neurons": options.neurons,
            "ns_per_update": float(f"{seconds * 1e9:.3g}"),
            "ns_bound": float(f"{bound:.3g}"),
            "over_bound": round(seconds * 1e9 / bound, 2),
            "counts": {op: k for op, k in sorted(counts.items()) if op in PRICED},
            "other": sum(k for op, k in counts.items() if op not in PRICED),
            "threads": options.threads,
            "device": cpu_device(),
            "versions": versions(),
        }
        print(json.dumps(line), flush=True)


def models() -> dict[str, jn.Neuron]:
    """Every neuron of the package with its defaults, and some with another method."""
    classes = {k: v for k, v in vars(jn.neurons).items() if isinstance(v, type)}
    found = {k: v for k, v in classes.items() if issubclass(v, jn.Neuron)}
    given: dict[str, Any] = {"PoissonSource": {"rate": 100.0}}
    out = {name: cls(**given.get(name, {})) for name, cls in found.items()}
    slow = jn.neurons.HodgkinHuxley(method=jn.integrators.exponential_euler)
    return out | {"HodgkinHuxley, exponential Euler": slow}


def _drive(model, n) -> jn.Drive:
    """A current that gives few spikes, and other input that the model needs."""
    if isinstance(model, jn.neurons.Relay | jn.neurons.PoissonSource):
        return jn.Drive(jump=jnp.zeros(n)) if isinstance(model, jn.neurons.Relay) else jn.Drive()
    current = jnp.linspace(0.0, 5.0, n)
    if not model.ports:
        return jn.Drive(current=current)
    return jn.Drive(current=current, arrivals=dict.fromkeys(model.ports, jnp.zeros(n)))


def _start(model, n):
    return initial_state(model, n)


def _timed(model, dt, options) -> float:
    """Seconds per neuron and step: the median of loops over the bare step."""
    n, steps = options.neurons, options.steps

    def loop(model, state, drive):
        step = lambda s, _: (model.step(s, drive, dt)[0], None)  # noqa: E731
        return lax.scan(step, state, None, length=steps)[0]

    args = model, _start(model, n), _drive(model, n)
    return _median(jax.jit(loop).lower(*args).compile(compiler_options=OPTIONS), args, options) / (
        n * steps
    )


def _median(compiled, args, options) -> float:
    seconds = []
    for _ in range(options.repeats + 1):
        start = time.perf_counter()
        jax.block_until_ready(compiled(*args))
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds[1:])


def _prices(options) -> dict[str, float]:
    """Nanoseconds per element of each operation, in a loop of its own."""
    x = jnp.linspace(0.1, 0.9, options.neurons)
    loops = {"add": lambda x: ((x * 0.9 + 0.1) * 0.9 + 0.1) * 0.9 + 0.1, **PRICED}
    out = {}
    for name, f in loops.items():
        loop = jax.jit(
            lambda x, f=f: lax.scan(lambda c, _: (f(c), None), x, None, length=options.steps)[0]
        )
        compiled = loop.lower(x).compile(compiler_options=OPTIONS)
        out[name] = 1e9 * _median(compiled, (x,), options) / (options.neurons * options.steps)
    out["add"] /= 6.0
    return out


def _counts(model, dt) -> collections.Counter:
    """Operations on arrays of neurons in one step, common ones once."""
    n = 257  # no other length is like it
    args = model, _start(model, n), _drive(model, n)
    jaxpr = jax.make_jaxpr(lambda m, s, d: m.step(s, d, dt))(*args).jaxpr
    seen: set = set()
    return _count(jaxpr, n, seen, {})


def _count(jaxpr, n, seen, names) -> collections.Counter:
    out: collections.Counter = collections.Counter()
    for eqn in jaxpr.eqns:
        inner = [p for p in eqn.params.values() if hasattr(p, "eqns") or hasattr(p, "jaxpr")]
        if inner:
            out += _count(getattr(inner[0], "jaxpr", inner[0]), n, seen, names)
            continue
        op = eqn.primitive.name
        key = op, tuple(map(str, eqn.invars)), str(sorted(map(str, eqn.params.items())))
        per_neuron = any(n in getattr(v.aval, "shape", ()) for v in eqn.outvars)
        varying = any(n in getattr(v.aval, "shape", ()) for v in eqn.invars)
        if op == "div" and n not in getattr(eqn.invars[1].aval, "shape", ()):
            op = "mul"  # by the reciprocal of a value that all neurons share
        if per_neuron and varying and op not in FREE and key not in seen:
            seen.add(key)
            out[op] += 1
    return out
