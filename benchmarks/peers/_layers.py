"""The two tasks of the benchmark `layers`, and how one implementation in JAX is timed on them.

`layer` is one dense layer of LIF neurons, whose output spikes are summed. `shd` has the shape of
the Spiking Heidelberg Digits: a layer of LIF neurons and leaky integrators, and the cross entropy
of the mean of these. All implementations get the same spikes and the same weights.

Reference:
    Cramer et al. (2022), The Heidelberg spiking data sets for the systematic evaluation of spiking
    neural networks, doi:10.1109/TNNLS.2020.3044364.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

DECAY = 0.95  # of the voltage in a time step
STEEPNESS = 25.0  # of the surrogate, 1 / (1 + STEEPNESS |v - 1|)^2
INPUT_RATE = 0.05  # spikes per input and time step
SIZES = {"layer": (1024, 1024), "shd": (700, 256, 20)}
BATCHES = {"layer": 16, "shd": 32}


@dataclass(frozen=True)
class Task:
    """One task at one size.

    Attributes:
        name: "layer" or "shd".
        sizes: neurons of each layer, of the inputs first.
        batch: trials of one gradient.
        steps: time steps.
        seed: of spikes and weights.
    """

    name: str
    sizes: tuple[int, ...]
    batch: int
    steps: int
    seed: int

    @classmethod
    def of(cls, options: argparse.Namespace) -> Task:
        """The task of these options; a size that is not given is the usual one."""
        inputs, hidden, *last = SIZES[options.task]
        sizes = (options.inputs or inputs, options.hidden or hidden, *last)
        batch = options.batch or BATCHES[options.task]
        return cls(options.task, sizes, batch, options.steps, options.seed)

    @property
    def has_readout(self) -> bool:
        """Whether the last layer is of leaky integrators."""
        return self.name == "shd"

    def spikes(self) -> NDArray[np.bool_]:
        """The input spikes, (steps, batch, inputs)."""
        shape = self.steps, self.batch, self.sizes[0]
        return np.random.default_rng([self.seed, 1]).random(shape, np.float32) < INPUT_RATE

    def weights(self) -> list[NDArray[np.float32]]:
        """The weights of each layer at the start, (sources, targets)."""
        rng = np.random.default_rng([self.seed, 2])
        shapes = zip(self.sizes, self.sizes[1:])
        draw = rng.standard_normal
        return [draw(shape, np.float32) / np.float32(shape[0] ** 0.5) for shape in shapes]

    def loss(self, output: Any) -> Any:
        """The loss of the last layer's output, (steps, batch, neurons): spikes or voltages."""
        import jax
        import jax.numpy as jnp

        if not self.has_readout:
            return output.sum()
        labels = jnp.arange(self.batch)[:, None] % self.sizes[-1]
        chances = jax.nn.log_softmax(output.mean(0))
        return -jnp.take_along_axis(chances, labels, 1).mean()


def add_task_options(parser: argparse.ArgumentParser) -> None:
    """The options of a task, which ours and the peers share."""
    parser.add_argument("--task", choices=sorted(SIZES), default="layer")
    parser.add_argument("--inputs", type=int, help="input neurons (default: of the task)")
    parser.add_argument("--hidden", type=int, help="LIF neurons (default: of the task)")
    parser.add_argument("--batch", type=int, help="trials (default: of the task)")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=7, help="runs after compiling")
    parser.add_argument("--seed", type=int, default=1)


class Gradient:
    """A loss and its gradient, compiled.

    Attributes:
        compile_s: seconds of compiling the loss and its gradient, without the loss alone.
        temporary_mb: memory of the numbers that the gradient keeps while it runs.
        forward_s, gradient_s: seconds of each run of the loss, and of the loss with its gradient.
    """

    def __init__(self, loss: Callable, *operands: Any) -> None:
        """Compiles `loss(parameters, ...)` for these operands."""
        import jax

        self.operands = operands
        self._forward = jax.jit(loss).lower(*operands).compile()
        start = time.perf_counter()
        self._gradient = jax.jit(jax.value_and_grad(loss)).lower(*operands).compile()
        self.compile_s = time.perf_counter() - start
        used = self._gradient.memory_analysis()
        self.temporary_mb = getattr(used, "temp_size_in_bytes", 0) / 1e6
        self.forward_s: list[float] = []
        self.gradient_s: list[float] = []

    def result(self) -> tuple[Any, Any]:
        """The loss and its gradient."""
        return self._gradient(*self.operands)

    def time_forward(self) -> None:
        """Runs the loss alone once."""
        self.forward_s.append(self._time(self._forward))

    def time_gradient(self) -> None:
        """Runs the loss with its gradient once."""
        self.gradient_s.append(self._time(self._gradient))

    def forget_times(self) -> None:
        """Begins new lists of times."""
        self.forward_s, self.gradient_s = [], []

    def _time(self, program: Callable) -> float:
        import jax

        start = time.perf_counter()
        jax.block_until_ready(program(*self.operands))
        return time.perf_counter() - start

    def line(self, task: Task, implementation: str, loss: float) -> dict[str, Any]:
        """The fields of a JSON line that all implementations have."""
        return {
            "bench": "layers",
            "impl": implementation,
            "task": task.name,
            "sizes": task.sizes,
            "batch": task.batch,
            "steps": task.steps,
            "forward_s": median(self.forward_s),
            "wall_s": median(self.gradient_s),
            "compile_s": self.compile_s,
            "temporary_mb": self.temporary_mb,
            "loss": loss,
        }


def time_in_turn(gradients: list[Gradient], repeats: int) -> None:
    """Runs each loss and each gradient once to warm up, and then `repeats` times in turn."""
    for number in range(repeats + 1):
        for gradient in gradients:
            gradient.time_forward()
        for gradient in gradients:
            gradient.time_gradient()
        for gradient in gradients if number == 0 else []:
            gradient.forget_times()


def run_peer_script(
    implementation: str,
    packages: list[str],
    make: Callable[[Task], tuple[Any, Callable[[Any, Any], Any]]],
) -> None:
    """The body of a peer's script: times its network and prints one JSON line.

    Args:
        implementation: name of the peer.
        packages: whose versions the line has.
        make: returns the parameters of a task and `run(parameters, spikes)`, the last layer's
            output. It imports the peer.
    """
    from _common import emit_fields, peak_rss_mb, pin

    parser = argparse.ArgumentParser(description="prints one JSON line")
    add_task_options(parser)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    pin(options.threads)
    task = Task.of(options)
    parameters, run = make(task)

    def loss(parameters: Any, spikes: Any) -> Any:
        return task.loss(run(parameters, spikes))

    gradient = Gradient(loss, parameters, task.spikes().astype(np.float32))
    time_in_turn([gradient], options.repeats)
    line = gradient.line(task, implementation, float(gradient.result()[0]))
    line |= {"peak_rss_mb": peak_rss_mb(), "threads": options.threads}
    emit_fields(packages, line)
