"""Results as NWB files.

Reference:
    Ruebel et al. (2022), The Neurodata Without Borders ecosystem for neurophysiological data
    science, doi:10.7554/eLife.78362.
"""

import datetime
import uuid
from typing import TYPE_CHECKING, Any

import numpy as np

from .._text import counted
from .._version import __version__
from ..spec import InvalidValueError
from .tables import UNITS, exported, extra_module

if TYPE_CHECKING:
    from .result import Result

# NWB wants units without prefixes, and factors.
_SI = {"mV": ("volts", 1e-3), "pA": ("amperes", 1e-12), "nS": ("siemens", 1e-9)}


def to_nwb(
    result: "Result", start: Any, description: str | None, identifier: str | None, more: Any
) -> Any:
    """See `Result.to_nwb`."""
    pynwb = extra_module("pynwb", "nwb")
    common = extra_module("hdmf.common", "nwb")
    start = datetime.datetime.now().astimezone() if start is None else start
    if not isinstance(start, datetime.datetime) or start.tzinfo is None:
        must = "a datetime with a time zone, such as datetime.now().astimezone()"
        raise InvalidValueError("to_nwb", "session_start_time", must, repr(start))
    neurons = counted(sum(result.populations.values()), "neuron")
    of = f"{result.duration:g} ms of a network of {neurons}, simulated with jaxneuro {__version__}"
    file = pynwb.NWBFile(
        session_description=of if description is None else description,
        identifier=str(uuid.uuid4()) if identifier is None else identifier,
        session_start_time=start,
        **more,
    )
    if result.populations:
        file.units = _units(pynwb, common, result)
    _add_signals(pynwb, common, file, result)
    return file


def _units(pynwb: Any, common: Any, result: "Result") -> Any:
    """A row per neuron, with its spikes where they were recorded."""
    populations = result.populations
    columns = [
        common.VectorData(
            name="population",
            description="the population of the neuron",
            data=[name for name, n in populations.items() for _ in range(n)],
        ),
        common.VectorData(
            name="neuron",
            description="its number in the population, from 0",
            data=np.concatenate([np.arange(n) for n in populations.values()]),
        ),
    ]
    more = {}
    if result.spikes:
        times, counts = [], []
        for name, n in populations.items():
            at, neurons = result.events(name)
            times.append(at[np.argsort(neurons, kind="stable")] / 1e3)
            counts.append(np.bincount(neurons, minlength=n))
        ends, n = np.cumsum(np.concatenate(counts)), sum(populations.values())
        windows = np.tile([[result.start / 1e3, result.stop / 1e3]], (n, 1))
        texts = {"spike_times": "times of its spikes [s]", "obs_intervals": "the run [s]"}
        for (name, text), x, e in zip(
            texts.items(), (np.concatenate(times), windows), (ends, np.arange(1, n + 1))
        ):
            data = common.VectorData(name=name, description=text, data=x)
            columns += [data, common.VectorIndex(name=f"{name}_index", data=e, target=data)]
        more["resolution"] = result.dt / 1e3
    about = "the neurons of the network, population by population"
    return pynwb.misc.Units(name="units", description=about, columns=columns, **more)


def _add_signals(pynwb: Any, common: Any, file: Any, result: "Result") -> None:
    """A series per sampled variable, and a table of the units that their columns are."""
    if not result.sample_times.size:
        return
    ends = np.cumsum([0, *result.populations.values()])
    begins = dict(zip(result.populations, ends.tolist()))
    used: set[str] = set()
    rows: list[tuple[Any, ...]] = []
    for signal in exported(result):
        name, x = _free(signal.title, used), np.asarray(signal.samples)
        unit, factor = _SI.get(UNITS.get(signal.variable, ""), ("dimensionless", 1.0))
        of = f", a column per {signal.of}" if signal.of else ""
        series = pynwb.TimeSeries(
            name=name,
            data=x.astype(np.float32) if x.dtype.kind == "V" else x,  # HDF5 has no bfloat16
            unit=unit,
            conversion=factor,
            starting_time=float(result.sample_times[0]) / 1e3,
            rate=1e3 / result.interval,
            description=f"{signal.what} of {signal.name!r}{of}",
        )
        file.add_acquisition(series)
        if signal.of == "neuron" and signal.name in begins:
            units = signal.numbers + begins[signal.name]
            rows.append((name, signal.name, signal.variable, units))
    if not rows:
        return
    table = common.DynamicTable(
        name="sampled_units", description="which units the columns of a series are"
    )
    texts = {"series": "name of the series", "population": "of whom", "variable": "of what"}
    for name, text in texts.items():
        table.add_column(name=name, description=text)
    region = {"name": "sampled", "description": "the unit of each column", "index": True}
    table.add_column(**region, table=file.units)
    for series, population, variable, units in rows:
        row = {"series": series, "population": population, "variable": variable}
        table.add_row(**row, sampled=units.tolist())
    text = "what the series of the simulation are of"
    file.create_processing_module(name="simulation", description=text).add(table)


def _free(title: str, used: set[str]) -> str:
    """A title as a name in the file, which has no slash and no colon, and is there once."""
    name = first = title.replace("/", "_").replace(":", "_")
    while name in used:
        name = f"{first} {len(used)}"
    used.add(name)
    return name
