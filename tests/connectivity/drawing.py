"""Draws a rule, checking what every rule promises about its chunks."""

from types import ModuleType

import numpy as np

from jaxneuro import connectivity
from jaxneuro.numerics import seed_of, stream_key


def key_of(seed=0, name="p"):
    return stream_key(seed_of(seed), name, "targets")


def draw(rule, n_pre, n_post, same=False, seed=0, name="p"):
    """All connections as (pre, post), sorted by row as the rule gives them."""
    rule.check("projection 'p'", n_pre, n_post, same)
    pre, post = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for chunk in rule.draw(key_of(seed, name), n_pre, n_post, same):
        assert chunk.targets.shape == (chunk.counts.sum(),)
        assert chunk.first_row + chunk.counts.size <= n_pre
        rows = np.arange(chunk.first_row, chunk.first_row + chunk.counts.size)
        pre.append(np.repeat(rows, chunk.counts))
        post.append(chunk.targets)
    pre, post = np.concatenate(pre), np.concatenate(post)
    order = np.argsort(pre, kind="stable")
    pre, post = pre[order], post[order]
    assert (np.diff(post)[np.diff(pre) == 0] >= 0).all(), "targets ascend in a row"
    if post.size:
        assert post.min() >= 0
        assert post.max() < n_post
    return pre, post


def set_chunk(monkeypatch, size):
    modules = [m for m in vars(connectivity).values() if isinstance(m, ModuleType)]
    for module in modules:
        if hasattr(module, "CHUNK"):
            monkeypatch.setattr(module, "CHUNK", size)
