"""What docs/network_files.md shows works as it stands."""

import re
from pathlib import Path

import pytest

import jaxneuro as jn
from jaxneuro.io import format_description, parse_description
from jaxneuro.io._models import known
from tests.io.files import ROLES

PAGE = (Path(__file__).parents[2] / "docs" / "network_files.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.mark.slow
def test_the_example_runs():
    example, space = blocks("toml")
    for text, seconds in ((example, 0.05), (space, 0.02)):
        description = parse_description(text, "toml")
        result = jn.simulate(jn.build(description, key=0, dt=0.1), 1e3 * seconds)
        assert sum(result.events(p.name)[0].size for p in description.populations) > 20


def test_both_formats_are_the_same_network():
    a, b = parse_description(blocks("toml")[0], "toml"), parse_description(blocks("json")[0])
    assert format_description(a) == format_description(b)


def test_the_python_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.toml").write_text(blocks("toml")[0])
    (code,) = blocks("python")
    exec(code, {})
    assert (tmp_path / "copy.json").stat().st_size > 1000


def test_the_parts_in_the_table():
    text = blocks("toml")[1]
    parts = re.findall(r"^\| `(\{population.*?\})` \|", PAGE, flags=re.MULTILINE)
    assert len(parts) == 4
    for part in parts:
        changed = text.replace(
            '{population = "sheet", area = "left"}', part.replace('"E"', '"sheet"')
        )
        assert parse_description(changed, "toml").stimuli[0].post.where is not None


def test_the_error_that_is_quoted():
    text = blocks("toml")[0].replace("tau_m = 20.0", "tau = 20.0", 1)
    with pytest.raises(ValueError, match="line 7: there is no key of LIF named 'tau'; did you"):
        parse_description(text, "toml")
    assert "net.toml, line 7: there is no key of LIF named 'tau'; did you mean 'tau_m'?" in PAGE


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        jn.io.read_description(tmp_path / "net.toml")
    assert "A missing file is a `FileNotFoundError`" in PAGE


def test_every_key_is_there():
    for cls in (jn.Population, jn.Projection, jn.Stimulation):
        for key in cls.__dataclass_fields__:
            assert f"`{key}`" in PAGE


def test_the_list_of_models_is_whole():
    listed = jn.io.list_models()
    for role in ROLES.values():
        for name in known(role):
            assert f"\n  {name}" in listed
    for name in ("TimeFunction", "ByPositions", "ScheduledSpikes", "on_grid"):
        assert name not in listed
    assert "tau_m = 10.0 ms" in listed
    assert "\n  FixedProbability: p, autapses = true, stored = true\n" in listed
