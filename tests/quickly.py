"""Programs that XLA compiles in a quarter of the time, into slower code.

For checks of what a model says and of what transforms make of it: its equations, its derivative,
its batches. What depends on the code that XLA makes (float32 near the oracle, bits over devices,
large inputs) runs through `jax.jit`, as a user's program does.
"""

import functools
from typing import Any

import jax

# No optimisation by LLVM, no search for simpler formulas, and the older of two ways to write the
# code of a fusion.
OPTIONS = {
    "xla_backend_optimization_level": 0,
    "xla_cpu_use_fusion_emitters": False,
    "xla_disable_hlo_passes": "algsimp",
}


@functools.cache
def _known() -> dict[str, Any]:
    """The options that this version of XLA has."""
    known = {}
    for name, value in OPTIONS.items():
        try:
            jax.jit(lambda x: x + 1).lower(1.0).compile(compiler_options={name: value})
            known[name] = value
        except jax.errors.JaxRuntimeError as error:
            if "No such compile option" not in str(error):
                raise
    return known


class _Quick:
    """A function under `jit` with these options, which XLA is asked for at the first call."""

    def __init__(self, function: Any, how: dict[str, Any]) -> None:
        self.function, self.how, self.jitted = function, how, None
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **named: Any) -> Any:
        if self.jitted is None:
            self.jitted = jax.jit(self.function, compiler_options=_known(), **self.how)
        return self.jitted(*args, **named)


def quick_jit(function: Any = None, **how: Any) -> Any:
    """`jax.jit` of a function that is compiled quickly."""
    return functools.partial(quick_jit, **how) if function is None else _Quick(function, how)
