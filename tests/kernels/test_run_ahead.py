"""`run_ahead`: results in order, a bounded number of items under way, none left behind."""

import threading
import time

import pytest

from jaxneuro._kernels import threads
from jaxneuro._kernels.threads import run_ahead


@pytest.fixture(params=[1, 2, 5], ids=["1 thread", "2 threads", "5 threads"])
def n(request, monkeypatch):
    monkeypatch.setattr(threads, "threads", lambda: request.param)
    return request.param


@pytest.mark.parametrize("items", [0, 1, 2, 40])
def test_results_are_in_order(n, items):
    def work(k):
        time.sleep(0.001 * (k % 3))
        return k * k

    assert list(run_ahead(work, iter(range(items)))) == [(k, k * k) for k in range(items)]


def test_items_are_taken_when_they_are_needed(n):
    taken, most = [], []
    items = (taken.append(k) or k for k in range(60))
    for item, _ in run_ahead(lambda k: k, items):
        most.append(len(taken) - item)
    assert len(taken) == 60
    assert max(most) <= n + 1


@pytest.mark.parametrize("how", ["an exception in the work", "the caller stops", "in the caller"])
def test_nothing_is_left_under_way(n, how):
    lock, begun, done = threading.Lock(), [], []

    def work(k):
        with lock:
            begun.append(k)
        time.sleep(0.002)
        if how == "an exception in the work" and k == 3:
            done.append(k)
            raise RuntimeError("in the work")
        done.append(k)

    def run():
        results = run_ahead(work, range(1000))
        for k, _ in results:
            if k == 3 and how == "the caller stops":
                results.close()
                return
            if k == 3:
                results.throw(KeyboardInterrupt)

    if how == "the caller stops":
        run()
    else:
        with pytest.raises(RuntimeError if "work" in how else KeyboardInterrupt):
            run()
    assert sorted(begun) == sorted(done)
    assert len(done) <= 4 + n + 1
    time.sleep(0.01)
    assert len(begun) == len(done)
