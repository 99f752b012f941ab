"""Fixtures of runs in chunks."""

import importlib

import pytest

_plan = importlib.import_module("jaxneuro._run.chunks")


@pytest.fixture
def chunks(monkeypatch):
    """Makes every chunk `steps` long (a whole number of sampling windows)."""

    def set_to(steps):
        size = lambda sizes, every: max(steps // every, 1) * every  # noqa: E731
        monkeypatch.setattr(_plan, "chunk_steps", size)

    return set_to
