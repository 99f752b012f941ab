"""The benchmarks `layers` and `digits` at toy size: ours computes what the others do."""

import argparse
import json
import sys

import jax
import numpy as np
import pytest

import jaxneuro as jn
from benchmarks import digits, layers
from benchmarks.peers import _digits as task


def layer_options(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int)
    layers.add_options(parser)
    size = ["--inputs", "12", "--hidden", "9", "--batch", "3", "--steps", "20", "--repeats", "1"]
    return parser.parse_args([*size, *words])


@pytest.mark.slow(but=["shd"])
@pytest.mark.parametrize("name", ["layer", "shd"])
def test_layers_are_those_of_the_bare_loop(name, capsys):
    layers.run(layer_options("--task", name))
    (line,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert line["agrees"]
    assert line["synapses"] == 12 * 9 + (9 * 20 if name == "shd" else 0)
    assert len(line["sizes"]) == (3 if name == "shd" else 2)


def test_layers_have_what_the_options_say():
    words = "--task shd --delays --recurrent 0.5 --probability 0.5 --exponential --t-ref 2"
    options = layer_options(*words.split())
    net = jn.build(layers.describe(layers.Task.of(options), options), key=1, dt=layers.DT)
    assert set(net.projections) == {"0->1", "1->2", "1->1"}
    inputs, recurrent = net.connections("0->1"), net.connections("1->1")
    assert 0 < inputs.pre.size < 12 * 9
    assert 0 < recurrent.pre.size < 9 * 9
    assert float(net.get("1", "t_ref")) == 2.0
    delays = np.concatenate([net.connections(name).delay for name in net.projections])
    assert delays.min() == 1.0
    assert delays.max() == layers.LONGEST
    weights, _ = layers.make_loss(layers.Task.of(options), net)
    assert weights["1->1"]["weight"].shape == recurrent.pre.shape


def test_layers_refuse_peers_for_what_these_lack():
    with pytest.raises(SystemExit, match="--against"):
        layers.run(layer_options("--delays", "--against", "spyx"))


def images(n: int) -> np.ndarray:
    return np.random.default_rng(1).random((n, 64)) ** 2


def test_pixels_spike_once_and_bright_ones_early():
    bright = np.zeros((1, 64))
    bright[0, :3] = 1.0, 0.5, 0.05
    steps, pixels = np.nonzero(task.latency_coded(bright, bool)[0])
    assert (steps.tolist(), pixels.tolist()) == ([0, 15], [0, 1])
    assert task.latency_coded(images(4), bool).sum(1).max() == 1


def test_start_weights_have_the_law_of_flax():
    first, second = task.start_weights(3)
    assert (first.shape, second.shape) == ((64, 128), (128, 10))
    assert first.std() == pytest.approx(1 / 8, rel=0.02)
    assert np.abs(first).max() <= 2 / (8 * 0.8796)


def logits_of_spyx(weights, spikes):
    """The step of `spyx.nn.LIF` and `spyx.nn.LI` in NumPy."""
    first, second = (w.astype(float) for w in weights)
    v, out, outs = 0.0, 0.0, []
    for step in range(task.STEPS):
        fired = np.broadcast_to(v, (len(spikes), 128)) > 1.0
        v = task.DECAY * v + spikes[:, step] @ first - fired
        out = task.DECAY * out + fired @ second
        outs.append(out)
    return np.max(outs, axis=0)


def test_digits_are_classified_as_by_spyx():
    weights, spikes = task.start_weights(0), task.latency_coded(images(3), bool)
    net = jn.build(digits.describe(weights), key=0, dt=digits.DT)
    want = logits_of_spyx(weights, spikes)
    np.testing.assert_allclose(jax.jit(digits.logits_of)(net, spikes), want, atol=1e-5)
    assert want.max() > 0.1


def test_digits_are_learned(monkeypatch, capsys):
    labels = np.arange(10)
    examples = task.Examples(task.latency_coded(images(10), bool), labels)
    monkeypatch.setattr(task, "load_examples", lambda _: (examples, examples))
    monkeypatch.setattr(task, "LEARNING_RATE", 2e-2)
    options = argparse.Namespace(epochs=20, batch=10, seeds=1, threads=1, against=[])
    with jax.numpy_dtype_promotion("standard"):  # optax mixes types
        digits.run(options)
    (line,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert line["accuracies"] == [1.0]
    assert line["accuracy"] == 1.0


def test_images_need_scikit_learn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(SystemExit, match="pip install scikit-learn"):
        task.load_examples(bool)
