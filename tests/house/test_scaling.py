"""The benchmark of devices, and the arithmetic of the scaling model."""

import argparse
import itertools
import json

import numpy as np
import pytest

from benchmarks import _devices, devices, numbering
from scripts import scaling_model as model

H100 = model.GPUS["H100"]


def options(**changes):
    known = {"network": "coba", "neurons": 200, "devices": [1, 2], "weak": False}
    known |= {"seconds": 0.002, "repeats": 1, "threads": 2}
    return argparse.Namespace(**known | changes)


@pytest.mark.slow
def test_cases_grow_with_the_devices_only_if_they_should():
    strong = devices.cases_of(options(), "cpu", 2)
    assert [(c.neurons, c.devices, c.threads, c.copies) for c in strong] == [
        (200, 1, 1, 1),
        (200, 2, 1, 1),
        (200, 1, 2, 1),
        (100, 1, 1, 2),
    ]
    weak = devices.cases_of(options(weak=True), "cpu", 2)
    assert [c.neurons for c in weak] == [200, 400, 400, 200]
    cards = devices.cases_of(options(devices=None, weak=True, threads=16), "gpu", 4)
    assert [(c.platform, c.neurons, c.devices) for c in cards] == [
        ("gpu", 200, 1),
        ("gpu", 400, 2),
        ("gpu", 800, 4),
        ("cpu", 200, 1),
    ]
    with pytest.raises(SystemExit, match="at most 2, the GPUs here; got 4"):
        devices.cases_of(options(devices=[4]), "gpu", 2)


class Fixed:
    """A runner that takes what it is told."""

    def __init__(self, case, times, spikes="a"):
        self.case, self.times = case, iter(times)
        self.facts = {"neurons": case.neurons, "synapses": 1000, "dt_ms": 0.1, "spikes": spikes}
        self.facts |= {"bytes_per_step": 56, "connections_mb_per_device": 1.5}

    def once(self):
        return next(self.times)


def test_ratios_are_taken_within_a_turn():
    cases = devices.cases_of(options(), "cpu", 2)[:2]
    runners = [Fixed(cases[0], [10.0, 20.0, 30.0]), Fixed(cases[1], [8.0, 10.0, 10.0], "b")]
    times = _devices.take_turns(runners, 3)
    one, two = _devices.records(runners, times, weak=False)
    assert (one["speedup"], one["efficiency"], one["same_spikes"]) == (1.0, 1.0, True)
    assert (two["speedup"], two["efficiency"], two["same_spikes"]) == (2.0, 1.0, False)
    assert two["us_per_step"] == 10.0
    assert two["exchanged_mb_per_s"] == pytest.approx(5.6)
    assert two["rtf"] == pytest.approx(0.1)
    _, weak = _devices.records(runners, times, weak=True)
    assert (weak["speedup"], weak["efficiency"], weak["same_spikes"]) == (4.0, 2.0, None)
    assert "NO" in _devices.table([one, two])[2]


@pytest.mark.slow
def test_two_virtual_devices_spike_as_one():
    laid = [_devices.Laid(_devices.Case("", "coba", 200, 20.0, d)) for d in (1, 2)]
    assert laid[0].facts["spikes"] == laid[1].facts["spikes"]
    assert laid[1].facts["bytes_per_step"] == 16  # 80 and 20 places of two populations, in words
    assert laid[1].facts["steps_per_exchange"] == 1
    assert laid[0].facts["rate_hz"] > 1.0
    assert laid[1].once() > 0.0


@pytest.mark.slow
def test_numberings_are_one_network(capsys):
    options = argparse.Namespace(
        side=8, dimensions=2, radius=1.5, gap=False, seconds=0.002, repeats=1, threads=1
    )
    numbering.run(options)
    lines = [json.loads(x) for x in capsys.readouterr().out.splitlines()]
    assert [x["numbering"] for x in lines] == ["rows", "z", "random"]
    assert {x["connections_per_neuron"] for x in lines} == {6.562}  # 420 / 64, four digits
    points = numbering.numberings(8)
    np.testing.assert_array_equal(points["z"][:4], [[0, 0], [1, 0], [0, 1], [1, 1]])
    assert {tuple(sorted(map(tuple, x))) for x in points.values()} == {
        tuple(sorted(map(tuple, points["rows"])))
    }
    assert numbering.numberings(8, 3)["rows"].shape == (64, 3)


def line(net, d, us):
    return {
        "network": net.name,
        "neurons": net.neurons,
        "synapses": net.neurons * net.synapses,
        "rate_hz": net.rate,
        "dt_ms": net.dt,
        "steps_per_exchange": net.together,
        "devices": d,
        "us_per_step": us,
    }


def test_a_fit_finds_the_costs_that_made_the_lines():
    costs = {"neuron": 2e-3, "row": 0.14, "event": 5e-3, "exchange": 90.0}
    nets = [
        model.Net(*("", n, k, r), together=m)
        for n, k, r, m in ((4e5, 80.0, 21.0, 1), (1e5, 1000.0, 5.0, 15), (2e4, 100.0, 30.0, 1))
    ]
    lines = [line(net, d, 1.0) for net in nets for d in (1, 2, 4)]
    lines = [x | {"us_per_step": model.fitted_us(x, costs)} for x in lines]
    assert model.fit(lines) == pytest.approx(costs, rel=1e-6)
    free = [x | {"us_per_step": x["us_per_step"] - 90.0 / x["steps_per_exchange"]} for x in lines]
    got = model.fit([x for x in free if x["us_per_step"] > 0])
    assert min(got.values()) >= 0.0


def test_what_a_step_does_by_hand():
    net = model.Net("", 200_000, 80.0, 10.0)
    assert net.spikes == 200.0
    np.testing.assert_allclose(model.work(net, 1), [1, 200_000, 200 * 4, 16_000, 0])
    np.testing.assert_allclose(model.work(net, 4), [1, 50_000, 200, 4_000, 200_000])
    assert model.memory_gb(net, 1) == pytest.approx(1e-9 * (3.2e7 + 3.2e6 + 2e7))
    two = 1e-9 * (1.6e7 + 200_000 * (4 * 2 + 9) + 1e7)
    assert model.memory_gb(net, 2) == pytest.approx(two)
    sparse = model.memory_gb(model.Net("", 1e6, 10.0, 1.0), 1000, sparse=True)
    assert sparse == pytest.approx(1e-9 * (2e4 + 12 * 1e4 + 1e5))


def test_an_exchange_by_hand():
    net = model.Net("", 8e6, 1000.0, 5.0, together=10)
    assert model.exchange_us(net, 1, H100) == 0.0
    moved = 1e7 * (1 - 1 / 8) / 450e3
    assert model.exchange_us(net, 8, H100) == pytest.approx((3 * 5.0 + moved) / 10)
    far = 1e7 * (1 - 1 / 32) / 450e3 + 1e7 * (1 - 1 / 4) / (8 * 50e3)
    assert model.exchange_us(net, 32, H100) == pytest.approx((3 * 5.0 + 2 * 10.0 + far) / 10)
    lists = model.exchange_us(net, 8, H100, lists=True)
    assert lists == pytest.approx((15.0 + 10 * 4 * 4000 * (7 / 8) / 450e3) / 10)


def test_more_devices_never_do_more_of_what_is_divided():
    for net, (a, b) in itertools.product(model.NETS, itertools.pairwise(model.COUNTS)):
        few, many = model.step_us(net, a, H100), model.step_us(net, b, H100)
        assert all(many[k] <= few[k] for k in ("launches", "neuron", "row", "event"))
        assert model.exchange_us(net, b, H100, True) < model.exchange_us(net, b, H100)


def test_lists_visit_only_rows_that_have_targets():
    net, per_row = model.Net("", 1e8, 100.0, 10.0), model.gpu_costs(H100).row
    bits, lists = (model.step_us(net, 400, H100, x) for x in (False, True))
    assert bits["row"] == pytest.approx(1e5 * 4 * per_row)
    assert lists["row"] == pytest.approx((1e5 + 1e5 * 100 / 400) * per_row)
    assert bits["scan"] > 0.0
    assert lists["scan"] == 0.0


def test_tables_and_picture(tmp_path, monkeypatch, capsys):
    lines = tmp_path / "lines.jsonl"
    found = [line(net, d, 100.0) for net in model.NETS[:2] for d in (1, 2, 4)]
    lines.write_text("\n".join(json.dumps(x | {"threads": 1, "copies": 1}) for x in found))
    monkeypatch.setattr("sys.argv", ["", str(lines), "--out", str(tmp_path / "scaling.png")])
    model.main()
    out = capsys.readouterr().out
    assert out.count("| microcircuit |") == 5
    assert "| 1,000,000 | 8 | 3.0 |" in out
    assert (tmp_path / "scaling.png").stat().st_size > 10_000
