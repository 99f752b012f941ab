"""Tables of README.md and docs/performance.md as Markdown, from the rows of `_rows`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from examples.cortical_microcircuit import NAMES, RATES

from . import settings
from ._page_lists import LISTS, NOT_RUN, lines_of, lists, measured, number, table, value_of
from ._rows import Rows

OURS = "jaxneuro"
# Other simulators: `impl` of their lines, title, package, and what follows the version.
PEERS = {
    "brian2": ("brian2-cpp", "Brian2", "brian2", " C++"),
    "brainpy": ("brainpy", "brainpy", "brainpy", ""),
    "nest": ("nest", "NEST", "nest-simulator", ""),
}
CORES = {"one": "", "two": "-2"}


def peer_titles(rows: Rows, names: Iterable[str], peers: Iterable[str] = PEERS) -> list[str]:
    """The other simulators, each with the version that ran."""
    titles = []
    for impl, title, package, how in (PEERS[peer] for peer in peers):
        lines = [line for name in names for line in lines_of(rows, name, impl=impl)]
        version = " " + ".".join(lines[0]["versions"][package].split(".")[:2]) if lines else ""
        titles.append(title + version + how)
    return titles


def ours(rows: Rows, name: str, **like: Any) -> str:
    """Our seconds per second of biology, in bold."""
    return f"**{number(value_of(rows, name, 'rtf', impl=OURS, **like))}**"


def peer_cell(rows: Rows, name: str, peer: str, ratio: bool = True) -> str:
    """Seconds per second of biology of another simulator, and the median ratio to ours."""
    seconds = value_of(rows, name, "rtf", impl=PEERS[peer][0])
    over = value_of(rows, name, "over_ours", peer) if ratio else None
    return number(seconds) + (f" ({number(over)})" if over is not None else "")


def readme(rows: Rows) -> str:
    """The figures of the README."""
    balanced = {
        f"{network.upper()}, {size:,} neurons": f"{network}-{size // 1000}k"
        for size in (4000, 40_000)
        for network in ("coba", "cuba")
    }
    names = list(balanced.values())
    body = [
        [title, ours(rows, name), *(peer_cell(rows, name, peer, False) for peer in PEERS)]
        for title, name in balanced.items()
    ]
    head = ["network", OURS, *peer_titles(rows, names)]
    whole = ["brunel", "microcircuit-2", "flybrain"]
    built = number(value_of(rows, "microcircuit-2", "build_s"))
    gigabytes = number(value_of(rows, "microcircuit-2", "peak_rss_mb"), 1e-3)
    errors = [
        abs(line["rates_hz"][name] / rate - 1)
        for line in lines_of(rows, "microcircuit-2")
        for name, rate in zip(NAMES, RATES)
    ]
    within = number(100 * max(errors)) if errors else NOT_RUN
    return f"""\
{table(rows, names, head, body)}
The balanced network of NEST's example `brunel_delta` (12,500 neurons, 15.6 million synapses,
Poisson input) takes {ours(rows, "brunel")} s on one core ({_in_words(rows, "brunel", PEERS)}).
The cortical microcircuit at full size (77,169 neurons, 298,880,970 synapses, Poisson input) is
built in **{built}** s, takes {ours(rows, "microcircuit-2")} s per second of biology on two cores,
and {gigabytes} GB of memory in all. Its eight rates are within {within} % of the published ones.
The brain of a fly (138,639 neurons, 15.1 million synapses) takes {ours(rows, "flybrain")} s on
one core ({_in_words(rows, "flybrain", ["brian2"])}).

Measured on {measured(rows, whole)}.
"""


def _in_words(rows: Rows, name: str, peers: Iterable[str]) -> str:
    titles = peer_titles(rows, [name], peers)
    cells = [peer_cell(rows, name, peer, False) for peer in peers]
    return ", ".join(f"{title}: {cell}" for title, cell in zip(titles, cells))


def against(rows: Rows) -> str:
    """COBA and CUBA beside other simulators."""
    titles = {
        f"{network.upper()} {size:,}, {cores}": f"{network}-{size // 1000}k{suffix}"
        for size in (4000, 40_000)
        for network in ("coba", "cuba")
        for cores, suffix in CORES.items()
    }
    return _beside(rows, titles, "network, cores")


def brunel(rows: Rows) -> str:
    """NEST's example brunel_delta beside other simulators."""
    return _beside(rows, {cores: f"brunel{suffix}" for cores, suffix in CORES.items()}, "cores")


def _beside(rows: Rows, titles: dict[str, str], first: str) -> str:
    names = list(titles.values())
    body = [
        [title, ours(rows, name), *(peer_cell(rows, name, peer) for peer in PEERS)]
        for title, name in titles.items()
    ]
    return table(rows, names, [first, OURS, *peer_titles(rows, names)], body)


def stdp(rows: Rows) -> str:
    """Plastic synapses beside Brian2."""
    (title,) = peer_titles(rows, ["stdp"], ["brian2"])
    body = [
        [OURS, ours(rows, "stdp", variant="with")],
        [f"{OURS}, the same synapses at rest", ours(rows, "stdp", variant="without").strip("*")],
        [f"{title} (over ours)", peer_cell(rows, "stdp", "brian2")],
    ]
    return table(rows, ["stdp"], ["", "seconds"], body)


def hpc(rows: Rows) -> str:
    """NEST's benchmark network, with its rule and at rest."""
    body = []
    for title, variant in (("with the rule", "with"), ("at rest", "without")):
        wall, factor, event, events = (
            value_of(rows, "hpc", key, variant=variant)
            for key in ("wall_s", "rtf", "ns_per_event", "events")
        )
        millions = f" ({number(events, 1e-6)} million)" if events else ""
        body.append([title, number(wall), number(factor), number(event) + millions])
    return table(rows, ["hpc"], ["", "seconds", "real-time factor", "ns per synaptic event"], body)


def synapses(rows: Rows) -> str:
    """Features of synapses and couplings: with, without, and beside Brian2."""
    body = []
    for name, target in (("stp", "1.2"), ("nmda", "1.5"), ("gap", "see below")):
        both = [number(value_of(rows, name, "wall_s", variant=v)) for v in ("with", "without")]
        ratio = number(value_of(rows, name, "over_without"))
        body.append([f"`{name}`", *both, ratio, target, peer_cell(rows, name, "brian2")])
    (title,) = peer_titles(rows, ["stp", "nmda", "gap"], ["brian2"])
    head = ["benchmark", "with s", "without s", "ratio", "target", f"{title}, with (over ours)"]
    return table(rows, ["stp", "nmda", "gap"], head, body)


def assemblies(rows: Rows) -> str:
    """Projections of assemblies, one at a time and many at once."""
    sampled = "projection, sampled, n 1e6, k 1,000 (`--capacity 5000`)"
    large = "projection, sampled, n 1e7 (`--n 1e7 --capacity 6000`)"
    many = "100 brains by `vmap`, sampled, n 1e5, k 317 (`--brains 100 --capacity 1700`)"
    hashed = "a round of a hashed area, n 1e5, k 317 (`--connectome hashed`)"
    cells = [
        ("assemblies", "run_s", sampled, "s", "0.15"),
        ("assemblies", "numpy_s", "the published equations in NumPy (`--against numpy`)", "s", ""),
        ("assemblies-1e7", "run_s", large, "s", ""),
        ("assemblies-1e7", "peak_rss_mb", "memory of its process", "MB", "400"),
        ("assemblies-brains", "run_s", many, "s", "1"),
        ("assemblies-hashed", "round_ms", hashed, "ms", "1"),
    ]
    names = list(dict.fromkeys(name for name, *_ in cells))
    body = [[*words, number(value_of(rows, name, key))] for name, key, *words in cells]
    return table(rows, names, ["", "unit", "target", "takes"], body)


def sweep(rows: Rows) -> str:
    """A thousand networks in a loop, and by `jn.sweep`."""
    titles = {
        "a compiled run in a loop": "loop_s",
        "`jn.sweep` on one core": "sweep_one_core_s",
        "`jn.sweep` on two cores": "sweep_s",
    }
    seconds = {title: value_of(rows, "sweep", key) for title, key in titles.items()}
    per_step = 1e6 / (1000 * 5000)  # networks, steps
    body = [[title, number(x), number(x, per_step)] for title, x in seconds.items()]
    return table(rows, ["sweep"], ["how", "s", "us per step and network"], body)


def devices(rows: Rows) -> str:
    """One network on one device, over two, with native threads, and apart."""
    titles = {
        "COBA 400,000": "devices-400k",
        "COBA 40,000": "devices-40k",
        "Brunel 12,500": "devices-brunel",
        "the fly's brain": "devices-flybrain",
        "microcircuit, a tenth": "devices-microcircuit",
        "COBA, 200,000 per device (efficiency)": "devices-weak",
    }
    one, two = {"case": "1 virtual device"}, {"case": "2 virtual devices"}
    body = []
    for title, name in titles.items():
        how = "efficiency" if name == "devices-weak" else "speedup"
        get = partial(value_of, rows, name)
        least = [get("us_least", **case) for case in (one, two)]
        by_least = f" ({number(least[0] / least[1])})" if least[0] and least[1] else ""
        body.append(
            [
                title,
                number(get("us_per_step", **one)),
                number(get("us_per_step", **two)),
                f"**{number(get(how, **two))}**{by_least}",
                number(get(how, case="CPU, 2 native threads")),
                number(get(how, case="2 networks apart")),
                number(get("bytes_per_step", **two)),
                number(get("steps_per_exchange", **two)),
            ]
        )
    head = ["network", "one device, us per step", "two devices, us per step", "speed-up"]
    head += ["native threads", "apart", "bytes per step", "steps per exchange"]
    return table(rows, list(titles.values()), head, body)


def recording(rows: Rows) -> str:
    """Wall seconds of a run by what it records."""
    names = {
        "recording-4k": "4,000, one core",
        "recording-40k": "40,000, one core",
        "recording-40k-2": "40,000, two cores",
    }
    lines = [line for name in names for line in lines_of(rows, name)]
    cases = dict.fromkeys(case for line in lines for case in line["wall_s"])
    body = [
        [case, *(number(value_of(rows, name, "wall_s", case)) for name in names)] for case in cases
    ]
    return table(rows, list(names), ["recorded", *names.values()], body)


def stimuli(rows: Rows) -> str:
    """Microseconds per step of each stimulus."""
    body = [
        [name, number(micro)]
        for line in lines_of(rows, "stimuli")
        for name, micro in line["us_per_step"].items()
    ]
    background = number(value_of(rows, "stimuli", "microcircuit_background_us"))
    body.append(
        ["the background of the full microcircuit, 77,169 neurons of eight rates", background]
    )
    return table(rows, ["stimuli"], ["stimulus", "us per step"], body)


def flybrain(rows: Rows) -> str:
    """The fly's brain beside Brian2."""
    keys = {
        "a step, us": "us_per_step",
        "load, s": "load_s",
        "build, s": "build_s",
        "compile, s": "compile_s",
    }
    impls = OURS, PEERS["brian2"][0]
    body = [
        [title, *(number(value_of(rows, "flybrain", key, impl=impl), missing="") for impl in impls)]
        for title, key in keys.items()
    ]
    ratio = number(value_of(rows, "flybrain", "over_ours", "brian2"))
    body.append(["a step over ours, median of the turns", "", ratio])
    return table(rows, ["flybrain"], ["", OURS, *peer_titles(rows, ["flybrain"], ["brian2"])], body)


def xla_settings(rows: Rows) -> str:
    """Milliseconds of the balanced networks by setting of XLA."""
    names = {"settings-4k": "4,000", "settings-40k": "40,000"}
    columns = [(name, network) for name in names for network in ("coba", "cuba")]
    body = [
        [case, *(number(value_of(rows, n, "wall_s", x, case=case), 1e3) for n, x in columns)]
        for case in settings.CASES
    ]
    head = ["setting", *(f"{network.upper()} {names[name]}" for name, network in columns)]
    return table(rows, list(names), head, body)


# The regions of the two pages, in their order.
README: dict[str, Callable[[Rows], str]] = {"speed": readme}
PERFORMANCE: dict[str, Callable[[Rows], str]] = {
    **{region: partial(lists, region) for region in LISTS},
    "other simulators": against,
    "brunel": brunel,
    "stdp": stdp,
    "hpc": hpc,
    "synapses": synapses,
    "assemblies": assemblies,
    "sweep": sweep,
    "devices": devices,
    "recording": recording,
    "stimuli": stimuli,
    "flybrain": flybrain,
    "settings": xla_settings,
}
