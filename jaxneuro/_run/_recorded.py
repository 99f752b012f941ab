"""What was recorded, by name: a name that is not there says what is, and how to record it."""

from collections.abc import Mapping
from typing import Any

from .._checks import unknown
from .._network import NoSuchNameError, register_dictionary
from .._text import shown

# What a field of a `Result` holds by name, and what to write in a `Record` to have it.
FIELDS = {
    "traces": ("recorded population or projection", "variables={{{name!r}: ...}}"),
    "means": ("population or projection with recorded means", "means={{{name!r}: 'v'}}"),
    "lfp": ("population with a recorded LFP", "lfp=({name!r},)"),
    "counts": ("population with recorded counts", "rates=True"),
    "weights": ("projection with recorded weights", "weights={{{name!r}: ...}}"),
    "weight_histograms": ("recorded histogram of weights", "weight_histograms={{{name!r}: 50}}"),
    "weight_edges": ("recorded histogram of weights", "weight_histograms={{{name!r}: 50}}"),
    "neurons": ("population of which some neurons were chosen", "neurons={{{name!r}: [0, 1]}}"),
    "synapses": ("projection of which some weights were chosen", "weights={{{name!r}: [0, 1]}}"),
}


class NotRecordedError(NoSuchNameError):
    """What was asked for was not recorded; a `KeyError` and a `ValueError`."""


class Recorded(dict):
    """A dictionary of what was recorded; `how` says how what is missing is recorded."""

    def __init__(self, values: Mapping[str, Any], kind: str, how: str):
        dict.__init__(self, values)
        self.kind, self.how = kind, how

    def __missing__(self, name: Any) -> Any:
        error = unknown(self.kind, name, self)
        inside = [k for k, x in self.items() if isinstance(x, Recorded) and name in x]
        if inside:
            raise NotRecordedError(
                f"{error}. {name!r} is of {inside[0]!r}: [{inside[0]!r}][{name!r}]"
            )
        how = self.how.format(name=name)
        raise NotRecordedError(f"{error}. To have it: simulate(..., record=jn.Record({how}))")

    def __repr__(self) -> str:
        return shown(dict(self))

    def __reduce__(self) -> tuple:
        return Recorded, (dict(self), self.kind, self.how)


def recorded(field: str, values: Mapping[str, Any]) -> Recorded:
    """The values of a field of a `Result`; of traces and means, each by variable too."""
    kind, how = FIELDS[field]
    if field in ("traces", "means"):
        values = {name: _variables(field, name, x) for name, x in values.items()}
    return Recorded(values, kind, how)


def _variables(field: str, name: str, values: Mapping[str, Any]) -> Recorded:
    field = "variables" if field == "traces" else field
    had = "".join(f"{variable!r}, " for variable in values)
    more = f"{field}={{{{{name!r}: ({had}{{name!r}})}}}}"
    return Recorded(values, f"recorded variable of {name!r}", more)


register_dictionary(Recorded, dict)
