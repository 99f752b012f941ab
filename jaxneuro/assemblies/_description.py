"""What a brain consists of: areas, stimuli and the fibres between them."""

import dataclasses
from typing import Any

import numpy as np

from .._checks import Named, check_bounds, check_count, check_fraction, check_known, check_name

CONNECTOMES = ("hashed", "explicit", "sampled")
# Weights above this are kept at it: the largest sums then fit into 63 bits.
LARGEST_WEIGHT = 2.0**20
LARGEST_BETA = 1000.0


def _check_end(what: str, name: Any) -> None:
    """Names of fibres are made of those of their ends."""
    check_name(what, name)
    if "->" in name:
        raise ValueError(f"{what}: the name must not contain '->'; got {name!r}")


def _check_one(what: str, value: Any, **bounds: Any) -> None:
    check_bounds(what, value, **bounds)
    if np.shape(value) != ():
        raise ValueError(f"{what} must be one number; got shape {np.shape(value)}")


@dataclasses.dataclass(frozen=True)
class Area(Named):
    """n neurons, of which the k with the largest input fire.

    **Fields** `name`; `n` neurons; `k` the size of the cap; `connectome` how the synapses onto
    this area are kept: "hashed" (drawn again in every round, never stored), "explicit" (stored)
    or "sampled" (only neurons that ever fired exist, `capacity` of them at most, by default
    enough for 8 k); `refraction` what the input of a neuron is lowered by for each time that it has
    fired (0: nothing); `homeostasis` whether the weights that a neuron receives from one source are
    divided by their sum in every round.

    **Raises** `ValueError` for k > n, a capacity below k or of an area that is not sampled, a
    negative refraction, and homeostasis of a sampled area (whose sums are not known).
    """

    name: str
    n: int
    k: int
    connectome: str = "hashed"
    capacity: int | None = None
    refraction: float = 0.0
    homeostasis: bool = False

    def __post_init__(self) -> None:
        _check_end("an area", self.name)
        label = f"area {self.name!r}"
        object.__setattr__(self, "n", check_count(f"{label}: n", self.n, at_least=1))
        object.__setattr__(self, "k", check_count(f"{label}: k", self.k, at_least=1))
        if self.k > self.n:
            raise ValueError(f"{label}: k must be at most n, {self.n:,}; got {self.k:,}")
        if self.n > 2**30:
            raise ValueError(f"{label}: n must be at most 2^30; got {self.n:,}")
        check_known(f"connectome (of {label})", self.connectome, CONNECTOMES)
        object.__setattr__(self, "homeostasis", bool(self.homeostasis))
        _check_one(f"{label}: refraction", self.refraction, at_least=0.0, at_most=2.0**20)
        object.__setattr__(self, "refraction", float(self.refraction))
        self._check_capacity(label)
        if self.sampled and self.homeostasis:
            raise ValueError(
                f"{label}: a sampled area cannot have homeostasis: only the synapses between "
                "neurons that fired exist, so the sum of the weights of a neuron is not known. "
                "Use connectome='hashed' or 'explicit'"
            )

    def _check_capacity(self, label: str) -> None:
        if not self.sampled:
            if self.capacity is not None:
                raise ValueError(
                    f"{label}: only a sampled area has a capacity; got {self.capacity!r} for "
                    f"connectome={self.connectome!r}"
                )
            return
        given = min(8 * self.k, self.n) if self.capacity is None else self.capacity
        room = check_count(f"{label}: capacity", given, at_least=self.k)
        object.__setattr__(self, "capacity", min(room, self.n))

    @property
    def sampled(self) -> bool:
        """Whether only neurons that ever fired exist."""
        return self.connectome == "sampled"

    @property
    def places(self) -> int:
        """The length of its arrays: all neurons, or those that a sampled area keeps."""
        return self.n if self.capacity is None else self.capacity


@dataclasses.dataclass(frozen=True)
class Stimulus(Named):
    """Neurons outside the brain that all fire whenever the stimulus is active.

    **Fields** `name`; `size` neurons, at most 65,535.

    **Raises** `ValueError` for a size out of bounds.
    """

    name: str
    size: int

    def __post_init__(self) -> None:
        _check_end("a stimulus", self.name)
        size = check_count(f"stimulus {self.name!r}: size", self.size, at_least=1)
        if size > 65_535:
            raise ValueError(
                f"stimulus {self.name!r}: size must be at most 65,535; got {size:,}. Use an area "
                "whose cap is set (brain.with_cap)"
            )
        object.__setattr__(self, "size", size)


@dataclasses.dataclass(frozen=True)
class Fibre(Named):
    """The synapses from an area or a stimulus onto an area, or of an area onto itself.

    **Fields** `source`, `target` names; `p` the probability of each synapse (a fibre of p = 0 has
    none, and drives nothing), `beta` what a weight grows by when both its neurons fire, to six
    decimals (None: those of the brain); `w_max` the ceiling of weights.

    **Raises** `ValueError` for p outside [0, 1], beta outside [0, 1000], a ceiling outside
    [1, 2^20].
    """

    source: str
    target: str
    p: float | None = None
    beta: Any = None
    w_max: float = LARGEST_WEIGHT

    def __post_init__(self) -> None:
        if self.p is not None:
            object.__setattr__(self, "p", check_fraction(f"fibre {self.name}: p", self.p))
        if self.beta is not None:
            _check_one(f"fibre {self.name}: beta", self.beta, at_least=0.0, at_most=LARGEST_BETA)
        _check_one(f"fibre {self.name}: w_max", self.w_max, at_least=1, at_most=LARGEST_WEIGHT)
        object.__setattr__(self, "w_max", float(self.w_max))

    @property
    def name(self) -> str:
        """Its ends: "A->B"."""
        return f"{self.source}->{self.target}"
