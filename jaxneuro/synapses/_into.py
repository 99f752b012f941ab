"""Into: one input of a receptor that has several."""

from typing import Any

import jax

from .._fields import static
from .._types import Drive, Synapse


class Into(Synapse):
    """One port of a receptor with several kinds of input, as the synapse of a projection.

    All projections onto a population `Into` equal receptors share one receptor, each with its own
    sum of arrivals: `Into(receptor, "dopamine")`.

    **Fields** `receptor` a synapse model with ports; `port` one of them.

    **Step** none of its own: the network steps the receptor, with the arrivals of all its ports.

    **Raises** `ValueError` for a port that the receptor does not have.

    **Source** Gewaltig and Diesmann (2007), doi:10.4249/scholarpedia.1430, on receptor ports.
    """

    receptor: Synapse
    port: str = static()

    def __check_init__(self) -> None:
        ports = getattr(self.receptor, "ports", ())
        if self.port not in ports:
            has = ", ".join(map(repr, ports)) or "none: give it as the synapse itself"
            raise ValueError(
                f"Into: {type(self.receptor).__name__} has no port {self.port!r}; it has {has}"
            )

    @property
    def weight_unit(self) -> str:  # type: ignore[override]
        """That of the receptor."""
        return self.receptor.weight_unit

    def init(self, n: int) -> Any:
        return self.receptor.init(n)

    def step(self, state: Any, arrivals: jax.Array, v: jax.Array, dt: float) -> tuple[Any, Drive]:
        return self.receptor.step(state, arrivals, v, dt)
