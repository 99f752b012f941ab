"""What the tests of executors send to workers: functions of a module that workers can import."""

import contextlib
import os
import signal
import time
from concurrent.futures import Future
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np


def negative(x):
    return -x


def product(x, y):
    return {"product": x * y, "both": jnp.stack([x, y])}


def kills_once(folder):
    """A function whose worker is killed when it first meets x = 3."""
    marker = Path(folder) / "killed"

    def look(x):
        if np.any(x == 3.0):
            with contextlib.suppress(FileExistsError):
                marker.touch(exist_ok=False)
                os.kill(os.getpid(), signal.SIGKILL)
                time.sleep(60)
        return x

    return lambda x: jax.pure_callback(look, x, x, vmap_method="broadcast_all")


def kills_always(x):
    def look(x):
        os.kill(os.getpid(), signal.SIGKILL)

    return jax.pure_callback(look, x, x, vmap_method="broadcast_all")


def refuses_seven(x):
    def look(x):
        if np.any(x == 7.0):
            raise ValueError("seven is not allowed")
        return x

    return jax.pure_callback(look, x, x, vmap_method="broadcast_all")


class Inline:
    """An executor of the smallest kind: it runs here; `faults` are raised first."""

    def __init__(self, faults=()):
        self.faults, self.submitted = list(faults), 0

    def submit(self, f, *args):
        self.submitted += 1
        future = Future()
        if self.faults:
            future.set_exception(self.faults.pop())
        else:
            future.set_result(f(*args))
        return future


class Applies(Inline):
    """As Ray's pool: `apply_async`, and a result with `get`."""

    submit = None

    def apply_async(self, f, args):
        future = Inline.submit(self, f, *args)
        future.get = future.result
        return future
