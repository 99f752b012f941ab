"""What is written reads back as the same network, bit for bit."""

import json
import tomllib

import equinox as eqx
import hypothesis.strategies as st
import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp

import jaxneuro as jn
from jaxneuro import spec
from jaxneuro.io import format_description, parse_description, read_description, write_description
from jaxneuro.io._entry import Entry, FileSource
from jaxneuro.io._models import known
from jaxneuro.io._write import fields
from jaxneuro.spec import UNITS
from tests.io import files
from tests.refusing import assert_refused

FORMATS = ("json", "toml")
INSTANCES = files.instances()
both = pytest.mark.parametrize("format", FORMATS)
PLAIN = {"json": json.loads, "toml": tomllib.loads}


def again(description, format):
    """The description, written and read."""
    text = format_description(description, format)
    assert PLAIN[format](text)["format"] == "jaxneuro network"
    return parse_description(text, format)


def same(a, b):
    """Whether two models or networks are equal to the last bit, of one type and dtype."""
    leaves, others = jax.tree.leaves(a), jax.tree.leaves(b)
    assert type(a) is type(b)
    assert len(leaves) == len(others)
    for x, y in zip(leaves, others):
        assert np.asarray(x).dtype == np.asarray(y).dtype
        assert np.asarray(x).tobytes() == np.asarray(y).tobytes()
    assert jax.tree.structure(a) == jax.tree.structure(b)


@both
@pytest.mark.parametrize("name", INSTANCES)
def test_every_model(name, format):
    model = INSTANCES[name]
    back = files.held(again(files.holding(model), format), model)
    same(back, model)


def test_every_role_is_there():
    found = {name.split()[0] for name in INSTANCES}
    assert {"neuron", "synapse", "release", "stimulus", "signal", "rule", "layout"} <= found
    assert {"plasticity"} <= found
    assert {"LIF"} <= set(known(jn.Neuron))
    assert len(known(jn.connectivity.Rule)) >= 7


class Flashes(jn.Stimulation):
    """A stimulation with a field that other stimulations do not have."""

    phase: float = spec.field(spec.Number("ms"), default=0.5, kw_only=True, doc="its phase")


@pytest.mark.parametrize("options", [{}, {"phase": 2.0}])
def test_a_declared_field_is_a_key(options):
    """One declaration makes a field a key that is read, written and refused."""
    flashes = Flashes("E", jn.stimuli.Current(3.0), **options)
    data = fields("", flashes)
    assert data["phase"] == options.get("phase", 0.5)

    def read(changed):
        return Entry(FileSource("net", changed, lambda path: 7), (), changed).instance(Flashes)

    assert read(data).phase == flashes.phase
    assert read({k: x for k, x in data.items() if k != "phase"}).phase == 0.5
    for wrong in ("phase", "fase"):
        with pytest.raises(ValueError, match=f"net, line 7: .*{wrong}"):
            read({**data, wrong: "late"})


@both
@pytest.mark.filterwarnings("ignore::UserWarning")  # its numbers tell parts apart, no more
def test_a_network_of_everything(format, tmp_path):
    path = tmp_path / f"net.{format}"
    description = files.everything()
    write_description(description, path)
    back = read_description(path)
    assert [p.name for p in back.projections] == [p.name for p in description.projections]
    same(jn.build(back, 3, 0.1), jn.build(description, 3, 0.1))
    write_description(back, tmp_path / f"again.{format}")
    assert (tmp_path / f"again.{format}").read_text() == path.read_text()
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"again.{format}", path.name]


def test_both_formats_say_the_same():
    a = parse_description(files.JSON, "json")
    b = parse_description(files.TOML, "toml")
    assert format_description(a, "json") == format_description(b, "json")
    assert a.populations[0].model.tau_m == 20.0
    assert a.areas["left"].high == (50.0, np.inf)
    assert a.projections[0].source.where == "left"
    assert a.projections[0].delay == 1.5


def test_what_a_person_may_leave_out():
    text = """
    {"format": "jaxneuro network", "version": 1,
     "populations": [{"name": "E", "n": 3, "model": "LIF", "positions": [[0, 1], [2, 3], [4, 5]]}],
     "projections": [{"source": "E", "target": "E", "rule": "OneToOne", "weight": 1, "delay": 1,
                      "synapse": "Delta"}]}
    """
    description = parse_description(text)
    (population,), (projection,) = description.populations, description.projections
    np.testing.assert_array_equal(population.positions.points, [[0, 1], [2, 3], [4, 5]])
    assert projection.name == "E->E"
    assert isinstance(projection.release, jn.release.Spikes)
    assert description.stimuli == ()


most = float(np.float32(1e30))
least = float(np.float32(UNITS["ms"].least))  # of a time [ms]
numbers64 = st.floats(-1e38, 1e38)  # in double precision, within the range of float32


def plausible(unit):
    """Whether a number, or one of an array, is not refused as one of a larger unit, such as V."""
    least = UNITS[unit].least

    def is_plausible(x):
        x = np.ravel(x)
        return not np.any(x) or (np.abs(x).max() >= least and not np.any((x < 0) & (x > -least)))

    return is_plausible


@pytest.mark.slow
@both
@pytest.mark.filterwarnings("ignore::UserWarning")  # numbers that nobody means are written, too
@given(
    e_l=st.floats(-most, most, width=32).filter(plausible("mV")),
    tau=st.floats(least, most, width=32),
    amplitudes=hnp.arrays(
        np.float32, 4, elements=st.floats(-(2.0**126), 2.0**126, width=32)
    ).filter(plausible("pA")),
    start=hnp.arrays(np.float64, 4, elements=numbers64).filter(plausible("mV")),
    weight=numbers64,
    matrix=hnp.arrays(np.float64, (4, 4), elements=numbers64),
    points=hnp.arrays(np.float64, (4, 2), elements=st.floats(-1e14, 1e14)),
    name=st.text(st.characters(codec="utf-8").filter(str.isprintable), min_size=1),
)
def test_any_numbers(format, e_l, tau, amplitudes, start, weight, matrix, points, name):
    rule, delta = jn.connectivity.AllToAll(), jn.synapses.Delta()
    more = {"delay": 1.5, "synapse": delta}
    description = jn.Description(
        [
            jn.Population(
                name, 4, jn.neurons.LIF(tau_m=tau, e_l=e_l), {"v": start}, positions=points
            )
        ],
        [
            jn.Projection(name, name, rule, weight=weight, name=name + "1", **more),
            jn.Projection(name, name, rule, weight=matrix, name=name + "2", **more),
        ],
        [jn.Stimulation(name, jn.stimuli.Current(amplitudes), name=name + "3")],
    )
    back = again(description, format)
    (a,), (b,) = description.populations, back.populations
    assert a.name == b.name
    same(b.model, a.model)
    same(b.positions, a.positions)
    assert list(b.initial) == ["v"]
    assert np.asarray(b.initial["v"]).tobytes() == start.tobytes()
    assert np.float64(back.projections[0].weight).tobytes() == np.float64(weight).tobytes()
    assert back.projections[1].weight.tobytes() == matrix.tobytes()
    same(back.stimuli[0].stimulus, description.stimuli[0].stimulus)
    assert back.stimuli[0].stimulus.amplitude.dtype == np.float32


@both
def test_double_precision(format, x64):
    model = jn.neurons.LIF(tau_m=1 / 3, v_th=-50.0 + 1e-13)
    back = files.held(again(files.holding(model), format), model)
    assert back.tau_m.dtype == np.float64
    same(back, model)


WRAPPED = {
    "around another": jn.plasticity.Normalized(jn.plasticity.BCM(eta=0.1, target=5.0), total=3.3),
    "around none": jn.plasticity.Normalized(None, total=7.0),
}


@both
@pytest.mark.parametrize("name", WRAPPED)
def test_rules_around_rules(name, format):
    rule = WRAPPED[name]
    description = again(files.holding(rule), format)
    same(files.held(description, rule), rule)
    assert description.projections[0].axonal == 0.2


@both
def test_file_is_laid_out_for_people(format):
    text = format_description(files.everything(), format)
    assert max(map(len, text.splitlines())) <= 110
    assert "tau_m" in text
    assert "0.33333334" in text  # tau_syn: the digits of float32, no more
    assert "0.3333333432674408" not in text


class _OwnNeuron(jn.Neuron):
    def init(self, n):
        return jn.neurons.LIF().init(n)

    def step(self, state, drive, dt):
        return state, state.spikes


def _projection(**changed):
    values = {"weight": 1.0, "delay": 1.5, "synapse": jn.synapses.Delta(), **changed}
    rule = values.pop("rule", jn.connectivity.AllToAll())
    return jn.Projection("E", "E", rule, **values)


def _with(neuron=None, projections=(), stimuli=()):
    model = jn.neurons.LIF() if neuron is None else neuron
    population = jn.Population("E", 4, model, positions=np.zeros((4, 1)))
    return jn.Description([population], projections, stimuli)


FUNCTION = "a Python function"
REFUSED = {
    "weight": (_with(projections=[_projection(weight=lambda i, j: i * 1.0)]), "weight", FUNCTION),
    "delay": (_with(projections=[_projection(delay=lambda i, j: i + 1.0)]), "delay", FUNCTION),
    "by distance": (
        _with(projections=[_projection(weight=jn.space.ByDistance(lambda d: d))]),
        "weight: function",
        FUNCTION,
    ),
    "probability": (
        _with(
            projections=[
                _projection(rule=jn.connectivity.DistanceProbability(lambda x, y: x[:, 0] * 0))
            ]
        ),
        "rule: profile",
        FUNCTION,
    ),
    "rate": (
        _with(stimuli=[jn.Stimulation("E", jn.stimuli.Current(lambda t: t))]),
        "stimulus: amplitude: function",
        FUNCTION,
    ),
    "no rows": (
        jn.Description([jn.Population("E", 0, jn.neurons.LIF(), positions=np.zeros((0, 2)))]),
        "positions: points",
        r"shape \(0, 2\)",
    ),
    "by positions": (
        _with(projections=[_projection(weight=jn.space.ByPositions(lambda x, y: x[:, 0]))]),
        "weight: function",
        FUNCTION,
    ),
    "what build makes": (
        _with(
            stimuli=[
                jn.Stimulation(
                    "E",
                    jn.stimuli.SpikeTimes([1.0]).prepare("x", 4, 0.1, None),
                    weight=1.0,
                    synapse=jn.synapses.Delta(),
                )
            ]
        ),
        "stimulus",
        "Write the model that was passed to build",
    ),
    "own model": (_with(neuron=_OwnNeuron()), "population 'E': model", "_OwnNeuron"),
}


@both
@pytest.mark.parametrize("case", REFUSED)
def test_what_a_file_cannot_hold(case, format, tmp_path):
    description, where, what = REFUSED[case]
    path = tmp_path / f"net.{format}"
    path.write_text("old")
    with pytest.raises(ValueError, match=f"{where}.*{what}"):
        write_description(description, path)
    assert path.read_text() == "old"


def test_a_traced_number_is_refused():
    @eqx.filter_jit
    def f(x):
        return format_description(_with(neuron=jn.neurons.LIF(tau_m=x)))

    with pytest.raises(ValueError, match="tau_m is not known yet"):
        f(jax.numpy.float32(3.0))


def test_other_names_and_values_are_refused(tmp_path):
    for name in ("net.yaml", "net"):
        with pytest.raises(ValueError, match=r"must end in \.json or \.toml"):
            write_description(files.everything(), tmp_path / name)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        write_description(files.everything(), tmp_path / "no" / "net.json")
    assert_refused(
        lambda: write_description(3, tmp_path / "net.json"), "write_description", "description", "3"
    )
    assert_refused(
        lambda: format_description(files.everything(), "yaml"),
        "format_description",
        "format",
        "'yaml'",
    )
