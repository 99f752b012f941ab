"""Results and records in a notebook."""

from typing import Any

from .._html import page, raster, table
from .._text import counted, shown


def html_of_record(record: Any) -> str:
    """What is recorded, as a table of the settings that say so."""
    about = {
        "variables": "state variables",
        "neurons": "of these neurons",
        "means": "means over populations",
        "lfp": "field potential of",
        "weights": "weights of",
        "weight_histograms": "histograms of weights of",
        "function": "a function of (state, output)",
    }
    rows = [("every spike", "yes" if record.spikes else "no")]
    if record.rates:
        rows.append(("spikes per step and population", "yes"))
    for field, what in about.items():
        value = getattr(record, field)
        if value:
            rows.append((what, shown(value)))
    if record.samples:
        every = "every step" if record.every == 1 else f"every {record.every} steps"
        rows.append(("sampled", every))
    return page("Record", [table(("what", "which"), rows)])


def html_of_result(result: Any) -> str:
    """Populations with their rates, a small raster, and what else was recorded."""
    title = f"Result: {counted(len(result.populations), 'population')}, {result.duration:g} ms"
    title += f" from {result.start:g} to {result.stop:g} ms in {result.run_s:.3g} s"
    title += f"; {result.nothing_sampled}" if result.nothing_sampled else ""
    title += ", interrupted" if result.interrupted else ""
    bands, rows = [], []
    for name, n in result.populations.items():
        spikes = rate = "not recorded"
        if result.spikes is not None:
            events = result.events(name)
            bands.append((name, *events, n))
            spikes = f"{events[0].size:,}"
        if result.spikes is not None or name in result.counts:
            hz = result.rate(name)
            rate = f"{hz:.2f} Hz" if hz == hz else "-"
            if result.n_steps and hz != hz:
                spikes = rate = "its model never spikes"
        rows.append((name, f"{n:,}", spikes, rate))
    tables = [table(("population", "neurons", "spikes", "mean rate"), rows)]
    tables.append(table(("recorded", "variable", "samples x numbers"), _sampled(result)))
    drawing = raster(bands, result.start, result.stop)
    return page(title if result.n_steps else f"{title}: no time steps", tables, drawing)


def _sampled(result: Any) -> list[tuple[str, str, str]]:
    rows = [
        (name, variable, _shape(x))
        for name, variables in result.traces.items()
        for variable, x in variables.items()
    ]
    rows += [
        (name, f"mean {variable}", _shape(x))
        for name, variables in result.means.items()
        for variable, x in variables.items()
    ]
    more = {"lfp": result.lfp, "weights": result.weights, "spikes per step": result.counts}
    more["weight histogram"] = result.weight_histograms
    rows += [(name, what, _shape(x)) for what, values in more.items() for name, x in values.items()]
    return rows


def _shape(x: Any) -> str:
    return " x ".join(f"{n:,}" for n in x.shape)
