"""A modulator: a slow substance that scales gains and parameters."""

import math
from collections.abc import Mapping

from .. import spec
from .part import END, Part


class Modulator(spec.Value):
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

    Raises:
        InvalidValueError: for neither source nor signal nor a start of its own, or bounds that do
            not hold 1; from `Description`, for a signal with the name of a population or of another
            modulator (none feeds another one); from `build`, for an unknown name or parameter, a
            duration that must be a whole number of steps, a parameter of a rule of plasticity, and
            where a value times a factor within the bounds (up to a million, if there is no highest)
            could not be set: a time constant of 0, a probability above 1, gap junctions that are
            not stable. The parameters of a model, with the gains of the gap junctions of its
            population, are tried together: with all modulators at the lowest or at the highest
            level that changes a factor, or one of them at the opposite. `set` tries again.

    Reference:
        Potjans, Morrison, Diesmann (2010), Enabling functional neural circuit simulations with
        distributed computing of neuromodulated plasticity, doi:10.3389/fncom.2010.00141, on volume
        transmission from a population of dopamine neurons; Seamans, Yang (2004), The principal
        features and mechanisms of dopamine modulation in the prefrontal cortex,
        doi:10.1016/j.pneurobio.2004.05.006, on conductances that dopamine scales.
    """

    name: str = spec.field(spec.Name(), doc="its name")
    tau: float = spec.field(spec.Number("ms", above=0.0), doc="time constant of the decay")
    scales: Mapping[str, Mapping[str, float]] = spec.field(
        spec.Entries(
            spec.Entries(spec.Number(), "amounts by parameter"), "amounts by name and parameter"
        ),
        default=spec.KeptMapping(),
        doc="amounts by what is scaled and its parameter, named as in `Network.set`: "
        '`{"E->E": {"gain": 0.5}, "E": {"tau_m": -0.1}}`, with `"gain"` of a projection or a '
        'coupling, `"weight"` of a stimulation of spikes, or parameters of neurons, synapses, '
        "releases and stimuli (no signals), of those that several share by their own name "
        "(`Network.shared`)",
    )
    source: str | Part | None = spec.field(
        spec.Maybe(END), default=None, kw_only=True, doc="neurons whose spikes set it free"
    )
    signal: str | None = spec.field(
        spec.Maybe(spec.Name()),
        default=None,
        kw_only=True,
        doc="name of an input of the run that sets it free",
    )
    per_spike: float = spec.field(
        spec.Number(), default=1.0, kw_only=True, doc="what a spike adds to the level"
    )
    baseline: float = spec.field(
        spec.Number(), default=0.0, kw_only=True, doc="the level to which it decays"
    )
    start: float | None = spec.field(
        spec.Maybe(spec.Number()),
        default=None,
        kw_only=True,
        doc="level at t = 0; None: `baseline`",
    )
    lowest: float = spec.field(
        spec.FRACTION, default=0.0, kw_only=True, doc="lower bound of the factor f"
    )
    highest: float = spec.field(
        spec.Number(at_least=1.0, finite=False),
        default=math.inf,
        kw_only=True,
        doc="upper bound of the factor f",
    )

    rules = (
        spec.Rule(
            "source",
            "given, or signal= (an input of the run), or start= (a level that decays)",
            lambda source, signal, start: not (source is signal is start is None),
        ),
    )

    @property
    def label(self) -> str:
        return f"modulator {self.name!r}"
