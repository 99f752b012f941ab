"""A modulator: a slow substance that scales gains and parameters."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from .._checks import Named, check_name
from .._units import check_unit
from ..spec import as_number
from ._kept import KeptMapping
from ._part import Part, check_ends

# No substance that reaches others decays faster; smaller numbers are seconds [ms].
_LEAST_TAU = 0.5


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Modulator(Named):
    """A slow substance, set free by spikes or by an input of the run, that scales what it reaches.

    Equations: its `level` c is one number, `dc/dt = -(c - baseline) / tau`. Each spike of the
    source neurons adds `per_spike`, and the named input `signal` of a run is added in every step,
    both at the end of the step. Everything in `scales` is multiplied by
    `f = clip(1 + amount c, lowest, highest)`, with c at the start of the step and an amount of its
    own. c decays exactly; that f is held over a step is of first order in dt / tau.

    A global substance has one modulator; for one per population, describe one for each. A rule of
    plasticity whose signal has the name of a modulator gets what is set free in each step (spikes
    times `per_spike`, plus the signal), and applies its own kinetics to it: the spikes of dopamine
    neurons are a reward then, and the run gives none. A signal may feed modulators and rules alike.

    **Fields** `name`; `tau` [ms] time constant; `scales` amounts by what is scaled and its
    parameter, named as in `Network.set`: `{"E->E": {"gain": 0.5}, "E": {"tau_m": -0.1}}`, with
    `"gain"` of a projection or a coupling, `"weight"` of a stimulation of spikes, or parameters of
    neurons, synapses, releases and stimuli (no signals), of those that several share by their own
    name (`Network.shared`); `source` a population or a `Part`, None for no spikes; `signal` name of
    the input, None for none; `per_spike`; `baseline`; `start` level at t = 0 (default: `baseline`);
    `lowest`, `highest` bounds of f.

    **Raises** `ValueError` for a `tau` that is not above 0 or in seconds, neither source nor signal
    nor a start of its own, an amount that is no number, a negative `lowest`, or bounds that do not
    hold 1; from `Description`, for a signal with the name of a population or of another modulator
    (none feeds another one); from `build`, for an unknown name or parameter, a duration that must
    be a whole number of steps, a parameter of a rule of plasticity, and where a value times a
    factor within the bounds (up to a million, if there is no highest) could not be set: a time
    constant of 0, a probability above 1, gap junctions that are not stable. Everything that
    modulators may move at once in one model, or at the gap junctions of a population, is tried
    together, in at most 64 combinations; `set` tries again.

    **Source** Potjans, Morrison, Diesmann (2010), doi:10.3389/fncom.2010.00141, on volume
    transmission from a population of dopamine neurons; Seamans, Yang (2004),
    doi:10.1016/j.pneurobio.2004.05.006, on conductances that dopamine scales.
    """

    name: str
    tau: float
    scales: Mapping[str, Mapping[str, float]] = dataclasses.field(default_factory=dict)
    source: str | Part | None = dataclasses.field(default=None, kw_only=True)
    signal: str | None = dataclasses.field(default=None, kw_only=True)
    per_spike: float = dataclasses.field(default=1.0, kw_only=True)
    baseline: float = dataclasses.field(default=0.0, kw_only=True)
    start: float | None = dataclasses.field(default=None, kw_only=True)
    lowest: float = dataclasses.field(default=0.0, kw_only=True)
    highest: float = dataclasses.field(default=math.inf, kw_only=True)

    def __post_init__(self) -> None:
        check_name("a modulator", self.name)
        for field in ("tau", "per_spike", "baseline", "start", "lowest", "highest"):
            given = getattr(self, field)
            if field != "start" or given is not None:
                number = self._number(field, given, finite=field != "highest")
                object.__setattr__(self, field, number)
        if not self.tau > 0:
            raise ValueError(f"{self.label}: tau must be above 0 ms; got {self.tau:g}")
        check_unit(f"{self.label}: tau", self.tau, "ms", _LEAST_TAU)
        if not 0 <= self.lowest <= 1 <= self.highest:
            raise ValueError(
                f"{self.label}: lowest must be from 0 to 1 and highest at least 1, the factor at "
                f"level 0; got {self.lowest:g} and {self.highest:g}"
            )
        if self.source is not None:
            check_ends(self.label, source=self.source)
        if self.signal is not None and not (isinstance(self.signal, str) and self.signal):
            raise ValueError(
                f"{self.label}: signal must be the name of an input; got {self.signal!r}"
            )
        if self.source is None and self.signal is None and self.start is None:
            raise ValueError(
                f"{self.label}: nothing sets it free; give source= (a population), signal= (the "
                "name of an input of the run) or start= (a level that decays)"
            )
        object.__setattr__(self, "scales", self._amounts())

    def _number(self, what: str, value: Any, finite: bool = True) -> float:
        number = as_number(value)
        if math.isnan(number) or (finite and math.isinf(number)):
            raise ValueError(f"{self.label}: {what} must be a number; got {value!r}")
        return number

    def _amounts(self) -> KeptMapping:
        wanted = "names to amounts by parameter, {'E->E': {'gain': 0.5}}"
        if not isinstance(self.scales, Mapping):
            raise ValueError(f"{self.label}: scales must map {wanted}; got {self.scales!r}")
        out = {}
        for name, amounts in self.scales.items():
            if not isinstance(name, str) or not isinstance(amounts, Mapping) or not amounts:
                raise ValueError(
                    f"{self.label}: scales must map {wanted}; got {name!r}: {amounts!r}"
                )
            out[name] = KeptMapping(
                {
                    key: self._number(f"the amount for {key} of {name!r}", amount)
                    for key, amount in amounts.items()
                }
            )
        return KeptMapping(out)

    @property
    def label(self) -> str:
        """What it is, for messages."""
        return f"modulator {self.name!r}"
