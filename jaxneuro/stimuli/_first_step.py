"""When a stimulus begins, as far as its times say so."""

from typing import Any

import numpy as np

from .._fields import parameters
from .._model import Stimulus
from ._given_spikes import ScheduledSpikes
from ._signal import Pulses, Ramp, Signal, Steps


def first_step(stimulus: Stimulus) -> int:
    """The first time step in which a stimulus that runs may do anything; 0 if it is not known."""
    if isinstance(stimulus, ScheduledSpikes):
        steps = np.asarray(stimulus.steps)
        return int(steps[0]) if steps.size > stimulus.most else 0
    values = [getattr(stimulus, field.name) for field in parameters(type(stimulus))]
    alone = len(values) == 1 and isinstance(values[0], Signal)
    return _begins(values[0]) if alone else 0


def _begins(signal: Any) -> int:
    """The step in which a signal that is 0 at first becomes another number."""
    if isinstance(signal, Steps):
        return int(np.asarray(signal.times)[0])
    if isinstance(signal, Pulses) and not np.any(signal.baseline):
        return int(signal.t_first)
    if isinstance(signal, Ramp) and not np.any(signal.start_value):
        return int(signal.t_start)
    return 0
