"""The functions of a plasticity rule, as the kernels call them, and as programs for native code.

A kernel visits the rows of sources. At each synapse of a row it does, for what has happened since
it was there last: `post` for every postsynaptic event in their order; then, now, `tick` if one is
due and `pre` if a presynaptic event arrives, or `lapse` if neither does. The traces of the source
are kept for each row and brought to now by `advance` or, with an event, by `jump`.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._arrays import AnyArray
from .._frozen import no_global_draws
from .._model import NamedNumbers, Plasticity
from ..spec import InvalidValueError
from .program import MixingError, Port, Program, translate

PHASES = ("post", "pre", "tick", "lapse", "advance", "jump")
_METHODS = {
    **{"post": "on_post", "pre": "on_pre", "tick": "on_tick", "lapse": "between"},
    **{"advance": "pre_traces", "jump": "pre_traces"},
}


@contextlib.contextmanager
def rule_method(name: str) -> Iterator[None]:
    """A block that calls a method of a rule; its errors become `InvalidValueError`s of the method.

    `check_rule` adds the rule to them. The method must not draw from `np.random`.
    """
    try:
        with no_global_draws("", name):
            yield
    except (InvalidValueError, MixingError):
        raise
    except Exception as error:
        asked = getattr(error, "obj", None)
        if isinstance(error, AttributeError) and isinstance(asked, NamedNumbers):
            must = f"one that asks for declared numbers, {', '.join(vars(asked)) or 'none'}"
            raise InvalidValueError("", name, must, repr(error.name)) from error
        traced = jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError
        first = str(error).strip().split("\n")[0].rstrip(".")
        if isinstance(error, traced) or "truth value of an array" in first:
            must = (
                "one that can be traced: jnp.where(condition, a, b) instead of if, functions of "
                "jnp instead of those of numpy"
            )
        else:
            must = "one that can be called"
        raise InvalidValueError("", name, must, f"{type(error).__name__}: {first}") from error


class RuleNames(NamedTuple):
    """The numbers of a rule, by name, in the order of their rows.

    Attributes:
        variables: of a synapse beside its weight.
        traces: of a source.
        ring: numbers of a target that presynaptic events and ticks read.
        log: those that postsynaptic events read.
        shared: by all synapses.
    """

    variables: tuple[str, ...]
    traces: tuple[str, ...]
    ring: tuple[str, ...]
    log: tuple[str, ...]
    shared: tuple[str, ...]


class RulePrograms:
    """A rule as the kernels need it; hashable, so that it can be a static argument.

    Attributes:
        made_of: the rule, with arbitrary numbers (the kernels get its leaves), and the names
            of what `step_post` gives.
        names: the numbers of the rule, of those of targets the ones that it reads.
        dt: [ms].
        words: the programs for native code, or None if it does not know an operation.
        why: that operation, or None.
        reads: by phase, the kinds of ports.
        acting: the methods of the rule that change something.
    """

    def __init__(self, rule: Plasticity, post: Sequence[str], dt: float, dtype: Any) -> None:
        self.dt, self.dtype = dt, np.dtype(dtype)
        leaves, self.structure = jax.tree.flatten(rule)
        self.made_of = rule, tuple(post)
        self.acting: set[str] = set()
        self.n_parameters = len(leaves)
        shared = tuple(jax.eval_shape(rule.init_shared))
        every = RuleNames(
            tuple(rule.variables()), tuple(rule.pre_traces()), tuple(post), tuple(post), shared
        )
        self.names = every
        programs = self._translated()
        reads = {phase: p.reads for phase, p in programs.items()}
        ring = _used(every.ring, reads["pre"] + reads["tick"])
        log = _used(every.log, reads["post"])
        self.names = every._replace(ring=ring, log=log)
        programs = self._translated()
        self.reads = {phase: frozenset(p.kind for p in x.reads) for phase, x in programs.items()}
        self.writes = {phase: x.writes for phase, x in programs.items()}
        self.constants = tuple(p.constants for p in programs.values())
        self.why = next((p.why for p in programs.values() if isinstance(p, _Unknown)), None)
        words = [p.words for p in programs.values() if isinstance(p, Program)]
        self.words = None if self.why else tuple(int(w) for x in words for w in x)

    def __reduce__(self) -> tuple:
        # A tree structure does not survive a copy; made again it equals itself.
        rule, post = self.made_of
        return RulePrograms, (jax.tree.map(np.asarray, rule), post, self.dt, self.dtype)

    def _key(self) -> tuple:
        return self.structure, self.names, self.dt, self.dtype, self.constants, self.words

    def __hash__(self) -> int:
        return hash(self._key())

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, RulePrograms) and self._key() == other._key()

    def does(self, phase: str) -> bool:
        """Whether anything happens to a synapse in this phase."""
        return bool(self.writes[phase])

    def numbers(self, rule: Plasticity) -> jax.Array:
        """The constants of every program, each followed by the parameters of the rule."""
        leaves = [jnp.asarray(x, self.dtype) for x in jax.tree.leaves(rule)]
        pieces = []
        for constants in self.constants:
            pieces += [jnp.asarray(constants, self.dtype), *(x[None] for x in leaves)]
        return jnp.concatenate(pieces) if pieces else jnp.zeros(0, self.dtype)

    def parameters(self, numbers: AnyArray) -> list[Any]:
        """The leaves of the rule, from what `numbers` gives."""
        start = len(self.constants[0])
        return [numbers[start + k] for k in range(self.n_parameters)]

    def ports(self, phase: str) -> tuple[Port, ...]:
        """What the function of a phase may read, in the order of its arguments."""
        if phase in ("advance", "jump"):
            traces = (Port("trace", k, True) for k in range(len(self.names.traces)))
            return (*traces, Port("since", 0, True))
        now = phase != "post"  # then what belongs to the source is the same for the row
        n = self.names
        targets = n.log if phase == "post" else n.ring
        return (
            Port("weight"),
            *(Port("variable", k) for k in range(len(n.variables))),
            *(Port("trace", k, True) for k in range(len(n.traces))),
            Port("since", 0, now),
            Port("released", 0, True),
            Port("arriving", 0, now),
            *(Port("post", k) for k in range(len(targets))),
            Port("elapsed"),
            *(Port("start", k) for k in range(len(n.shared))),
            *(Port("stop", k, now) for k in range(len(n.shared))),
        )

    def arguments(self, phase: str) -> tuple:
        """What `call` takes for one synapse, to trace it: the leaves of the rule, the ports."""
        one = jax.ShapeDtypeStruct((), self.dtype)
        return [one] * self.n_parameters, *(one for _ in self.ports(phase))

    def call(self, phase: str, parameters: list, *values: Any) -> dict[Port, Any]:
        """What a phase changes: new numbers of the synapse, or of the source, by port."""
        rule: Plasticity = jax.tree.unflatten(self.structure, parameters)
        given = dict(zip(self.ports(phase), values, strict=True))
        if phase in ("advance", "jump"):
            return _row(rule, self.names, phase, given)
        return _synapse(rule, self.names, phase, given, self.acting)

    def _translated(self) -> dict[str, Any]:
        out = {}
        # First `between` alone, which the other phases call too: an error names the right method.
        for phase in sorted(PHASES, key=lambda phase: phase != "lapse"):
            function, method = functools.partial(self.call, phase), _METHODS[phase]
            try:
                ports = self.ports(phase)
                out[phase] = translate(function, ports, self.n_parameters, self.dtype, method)
            except NotImplementedError as unknown:
                out[phase] = _unknown(function, self, phase, str(unknown))
        return {phase: out[phase] for phase in PHASES}


class _Unknown(NamedTuple):
    """A function that native code cannot run."""

    why: str
    reads: tuple[Port, ...]
    writes: tuple[Port, ...]
    constants: tuple[float, ...] = ()


def _unknown(function: Callable, programs: RulePrograms, phase: str, why: str) -> _Unknown:
    writes: list[Port] = []
    jax.eval_shape(lambda *x: writes.extend(function(*x)) or 0, *programs.arguments(phase))
    return _Unknown(why, programs.ports(phase), tuple(writes))


def _used(names: tuple[str, ...], reads: tuple[Port, ...]) -> tuple[str, ...]:
    used = {p.index for p in reads if p.kind == "post"}
    return tuple(name for k, name in enumerate(names) if k in used)


def _row(rule: Plasticity, names: RuleNames, phase: str, given: dict[Port, Any]) -> dict[Port, Any]:
    """The traces of a source now."""
    out, traces = {}, rule.pre_traces()
    since = given[Port("since", 0, True)]
    for k, name in enumerate(names.traces):
        port = Port("trace", k, True)
        x = traces[name].decayed(given[port], since)
        out[port] = traces[name].jumped(x) if phase == "jump" else x
    return out


def _synapse(
    rule: Plasticity, names: RuleNames, phase: str, given: dict[Port, Any], acting: set[str]
) -> dict[Port, Any]:
    """The numbers of a synapse after a phase; `acting` gets the methods that change some."""
    of = {(p.kind, p.index): x for p, x in given.items()}
    synapse = {"weight": of["weight", 0]}
    synapse |= {name: of["variable", k] for k, name in enumerate(names.variables)}
    start, stop = (
        NamedNumbers({name: of[kind, k] for k, name in enumerate(names.shared)})
        for kind in ("start", "stop")
    )
    # A visit without an event leaves the weight where it is, beyond a bound too: what a synapse
    # does must not depend on when its row is visited.
    with rule_method("between"):
        lapse = rule.between(NamedNumbers(synapse), of["elapsed", 0], start, stop)
    acting |= {"between"} if lapse else set()
    synapse = _changed(rule, "between", synapse, lapse, clip=phase != "lapse")
    if phase != "lapse":
        traces = rule.pre_traces()
        pre = {
            name: traces[name].decayed(of["trace", k], of["since", 0])
            for k, name in enumerate(names.traces)
        }
        pre |= {"released": of["released", 0], "arriving": of["arriving", 0]}
        targets = names.log if phase == "post" else names.ring
        post = {name: of["post", k] for k, name in enumerate(targets)}
        hook = f"on_{phase}"
        with rule_method(hook):
            new = getattr(rule, hook)(NamedNumbers(synapse), NamedNumbers(pre), NamedNumbers(post))
        synapse = _changed(rule, hook, synapse, new)
        acting |= {hook} if new else set()
    ports = [Port("weight"), *(Port("variable", k) for k in range(len(names.variables)))]
    return dict(zip(ports, synapse.values()))


def _changed(rule: Plasticity, hook: str, synapse: dict, new: Any, clip: bool = True) -> dict:
    if not isinstance(new, dict) or not set(new) <= set(synapse):
        got = f"one of {', '.join(map(repr, new))}" if isinstance(new, dict) else repr(new)
        got = "an array" if hasattr(new, "shape") else got
        changes = f"{', '.join(synapse)}, {{'weight': ...}}"
        must = f"one that returns a dictionary of changes, of {changes}"
        raise InvalidValueError("", hook, must, got)
    synapse = synapse | new
    if clip and "weight" in new:
        synapse["weight"] = _within(rule, synapse["weight"])
    return synapse


def _within(rule: Plasticity, weight: Any) -> Any:
    low, high = rule.bounds()
    weight = weight if low is None else jnp.maximum(weight, low)
    return weight if high is None else jnp.minimum(weight, high)


def check_rule(
    rule: Plasticity, label: str, post: Sequence[str], dt: float, dtype: Any
) -> RulePrograms:
    """The programs of a rule.

    Raises:
        InvalidValueError: for a rule that mixes synapses or draws with a key that never changes, or
            whose functions return something else than what they should.
    """
    try:
        return RulePrograms(rule, post, dt, dtype)
    except InvalidValueError as error:
        if error.owner:
            raise
        raise InvalidValueError(label, error.field, error.must, error.got) from error
    except MixingError as error:
        must = "elementwise, of numbers of one synapse (a sum over all belongs into `factors`)"
        raise InvalidValueError(label, "methods", must, str(error)) from None
