"""What the laws need to know of a model: the kinds of entry of the zoo."""

from collections.abc import Callable
from typing import Any, NamedTuple

CLOSE = 1e-12
DT = 0.1
# Parameters of an integrate-and-fire neuron of which nothing depends unless it spikes.
SILENT = ("v_th", "v_reset", "t_ref", "surrogate")


class Case(NamedTuple):
    """A model, its oracle, and how near it comes to it in float64 and in float32.

    Of a neuron also the names of its parameters of which nothing depends unless it spikes, and
    what its inputs are multiplied by so that it does not (None: its `v_th` is put out of reach);
    `spiking`: whether it spikes at all; `bears`: how many times larger inputs leave it finite;
    `amplifies`: how many times larger a few ulp become in its upstroke; `same_bits`: whether its
    bits are the same on several devices.
    """

    model: Any
    oracle: Callable | None
    close: float = CLOSE
    near: float = 2e-5
    silent: tuple[str, ...] = ()
    calm: float | None = None
    spiking: bool = True
    bears: float = 1e3
    amplifies: float = 1.0
    same_bits: bool = True


class Setting(NamedTuple):
    """How a model is driven: the time step [ms], the size of a neuron's inputs and of arrivals.

    `concentrations`: what arrives at a receptor are concentrations from 0 to 1, in every step.
    """

    dt: float = DT
    size: float = 1.0
    arriving: float = 50.0
    concentrations: bool = False
