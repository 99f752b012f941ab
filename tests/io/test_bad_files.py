"""What is wrong with a file is said with its name and line, whatever it is."""

import re

import numpy as np
import pytest

import jaxneuro as jn
from jaxneuro.io import parse_description, read_description
from tests.io.bad import BAD
from tests.io.files import JSON, TOML
from tests.refusing import assert_refused

TEXT = {"json": JSON, "toml": TOML}


def message(function, *args, **keywords):
    with pytest.raises(ValueError, match=r"line \d+: ") as caught:
        function(*args, **keywords)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700
    return str(caught.value)


@pytest.mark.parametrize(("format", "name"), [(f, name) for f in BAD for name in BAD[f]])
def test_the_line_and_what_is_wrong(format, name, tmp_path):
    old, new, needle, said = BAD[format][name]
    assert TEXT[format].count(old) >= 1
    text = TEXT[format].replace(old, new, 1)
    text = text[: text.index(new)] if name == "truncated" else text
    path = tmp_path / f"net.{format}"
    path.write_text(text)
    got = message(read_description, path)
    line = text[: text.index(needle)].count("\n") + 1 if needle else text.count("\n") + 1
    assert got.startswith(f"net.{format}, line {line}: "), got
    assert re.search(said, got), got


def test_the_texts_are_good():
    for format, text in TEXT.items():
        assert len(parse_description(text, format).populations) == 2
        assert len(parse_description(text.replace("\n", "\r\n"), format).projections) == 1
        assert len(parse_description(text, format).stimuli) == 1


@pytest.mark.parametrize("format", TEXT)
def test_files_that_are_no_text(format, tmp_path):
    path = tmp_path / f"net.{format}"
    with pytest.raises(FileNotFoundError, match=f"net.{format}: there is no such file"):
        read_description(path)
    path.write_bytes(b"")
    assert message(read_description, path) == f"net.{format}, line 1: the file is empty"
    path.write_bytes(b" \n\n")
    assert "is empty" in message(read_description, path)
    path.write_bytes(TEXT[format].replace('"I"', '"é"', 1).encode("latin-1"))
    at = TEXT[format][: TEXT[format].index('"I"')].count("\n") + 1
    got = message(read_description, path)
    assert got == f"net.{format}, line {at}: the file must be text in UTF-8"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT[format].encode())  # as some editors save it
    assert len(read_description(path).populations) == 2
    path.unlink()
    path.mkdir()
    assert "a folder or a device" in message(read_description, path)


def test_other_endings(tmp_path):
    for name in ("net.yaml", "net"):
        (tmp_path / name).write_text(JSON)
        with pytest.raises(ValueError, match=rf"^{name}: the name .* must end in .json or .toml"):
            read_description(tmp_path / name)
    assert_refused(lambda: parse_description(JSON, "yaml"), "parse_description", "format", "'yaml'")
    with pytest.raises(ValueError, match="must be a str; got bytes"):
        parse_description(JSON.encode())
    for text in ("[]", "3", '"a"', "null"):
        assert "an object with keys" in message(parse_description, text)


def test_a_large_file_is_read_when_asked(tmp_path):
    path = tmp_path / "net.json"
    path.write_text(JSON + " " * 300_000)
    assert "must have at most 0.2 MB; got 0.3 MB" in message(read_description, path, max_mb=0.2)
    assert len(read_description(path, max_mb=0.4).populations) == 2


def test_a_device_without_end_is_not_read(tmp_path):
    path = tmp_path / "net.json"
    path.symlink_to("/dev/zero")
    assert "a folder or a device" in message(read_description, path)


def test_nothing_is_placed_for_which_there_is_no_memory(monkeypatch):
    """Positions, and the numbers of neurons, are made when a description is."""
    monkeypatch.setattr("jaxneuro.io._network.available_memory", lambda: 10_000_000)
    positions = '{"type": "Grid", "shape": [4, 5], "spacing": 20.0}'
    box = '{"type": "UniformBox", "low": 0, "high": 1}'
    big = JSON.replace('"area": "left"', '"stop": 3').replace(positions, box)
    assert len(parse_description(big).populations) == 2
    got = message(parse_description, big.replace('"n": 20', '"n": 2000000000'))
    assert "line 5: placing 2,000,000,005 neurons takes about" in got
    alone = JSON.replace('"n": 5', '"n": 2000000000')
    assert parse_description(alone).estimate().neurons == 2_000_000_020  # needs no positions


PACKETS = '{"type": "PulsePackets", "times": [9, 19], "activity": 10, "sd": 1.0}'
DRIVEN = '"target": "I", "stimulus": {"type": "Current", "amplitude": 200.0}'


@pytest.mark.parametrize("target", ['"I"', '{"population": "I", "indices": [0, 2]}', "slice"])
def test_packets_for_which_there_is_no_memory(target, monkeypatch):
    monkeypatch.setattr("jaxneuro.io._network.available_memory", lambda: 10_000_000)
    part = '{"population": "I", "start": 1, "stop": 4}' if target == "slice" else target
    neurons = {'"I"': 5, "slice": 3}.get(target, 2)
    new = f'"target": {part}, "weight": 1, "synapse": "Delta", "stimulus": {PACKETS}'
    text = JSON.replace(DRIVEN, new)
    assert len(parse_description(text).stimuli) == 1
    got = message(parse_description, text.replace('"activity": 10', '"activity": 1000000'))
    line = text[: text.index("PulsePackets")].count("\n") + 1
    assert got.startswith(f"text, line {line}: drawing {2 * neurons},000,000 spikes of pulse packe")


def test_a_file_runs_nothing(monkeypatch):
    """Only models are made: names in the file are looked up, never imported or evaluated."""

    def refuse(*args, **keywords):
        raise AssertionError("imported or evaluated")

    for name in ("eval", "exec", "compile"):
        monkeypatch.setattr(f"builtins.{name}", refuse)
    monkeypatch.setattr("importlib.import_module", refuse)
    for word in ("os.system", "jaxneuro.neurons.LIF", "__import__('os')", "neurons.LIF"):
        text = JSON.replace('"type": "LIF"', f'"type": "{word}"')
        assert "no neuron model named" in message(parse_description, text)
    assert len(parse_description(JSON).populations) == 2


def test_a_new_model_is_known_without_a_change_here(monkeypatch):
    from jaxneuro.io import _models

    class NewNeuron(jn.Neuron):
        """A model of later work."""

        tau: jn.Parameter = jn.param(3.0, unit="ms", above=0.0)
        signs: tuple[int, ...] = jn.static((1, 2))
        label: str = jn.static("a")

        def init(self, n):
            return jn.neurons.LIF().init(n)

        def step(self, state, drive, dt):
            return state, state.spikes

    _models.public.cache_clear()
    _models.known.cache_clear()
    monkeypatch.setattr(jn.neurons, "NewNeuron", NewNeuron, raising=False)
    text = JSON.replace(
        '"type": "LIF", "tau_m": 20.0',
        '"type": "NewNeuron", "tau": 7, "signs": [3, -1], "label": "b"',
    )
    try:
        model = parse_description(text).populations[0].model
        wrong = message(parse_description, text.replace("[3, -1]", "[3, -1.5]"))
        back = parse_description(jn.io.format_description(parse_description(text)))
    finally:
        _models.public.cache_clear()
        _models.known.cache_clear()
    assert type(model) is NewNeuron
    assert (model.signs, model.label, float(model.tau)) == ((3, -1), "b", 7.0)
    assert "signs[1] must be a whole number; got -1.5" in wrong
    assert back.populations[0].model.signs == (3, -1)


def test_infinite_numbers_where_they_mean_something():
    text = JSON.replace(
        '"weight": 6.0', '"weight": {"type": "Normal", "mean": 1, "sd": 2, "low": "-inf"}'
    )
    law = parse_description(text).projections[0].weight
    assert (law.low, law.high) == (-np.inf, np.inf)
