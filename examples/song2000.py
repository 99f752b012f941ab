# %% [markdown]
# Competition among synapses: 1,000 Poisson inputs onto one neuron, whose weights change by additive
# STDP until each is near 0 or near the largest (Song, Miller, Abbott 2000, doi:10.1038/78829, with
# the numbers of Brian2's example). Run it: `python examples/song2000.py [--seconds 100]
# [--inputs 1000] [--out song2000.png]`

# %%
import argparse
from typing import Any, NamedTuple

import matplotlib
import numpy as np

import jaxneuro as jn

jn.configure_cpu()
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

G_MAX, RATE = 0.01, 15.0  # nS, Hz


class Course(NamedTuple):
    """Times [s], weights (times, inputs) in parts of the largest, output rate [Hz] before each."""

    times: np.ndarray
    weights: np.ndarray
    rates: np.ndarray

    def shares(self, row: int = -1) -> tuple[float, float]:
        """The shares of the weights below 0.1 and above 0.9 of the largest."""
        return float((self.weights[row] < 0.1).mean()), float((self.weights[row] > 0.9).mean())


# %% The network. Brian2 has dv/dt = (g (e_rev - v) + e_l - v) / tau_m with a g that has no unit:
# here c_m = 10 pF makes a leak c_m / tau_m of 1 nS, and g is the same number in nS
def description(inputs: int = 1000) -> jn.Description:
    neuron = jn.neurons.LIF(tau_m=10.0, c_m=10.0, e_l=-74.0, v_th=-54.0, v_reset=-60.0, t_ref=0.0)
    rule = jn.plasticity.TraceSTDP(a_plus=0.01 * G_MAX, a_minus=0.0105 * G_MAX, w_max=G_MAX)
    sources = jn.neurons.PoissonSource(RATE * 1000 / inputs)
    cells = [jn.Population("inputs", inputs, sources), jn.Population("output", 1, neuron)]
    wires = jn.Projection(
        *("inputs", "output", jn.connectivity.AllToAll()),
        weight=jn.Uniform(0.0, G_MAX),
        delay=0.1,
        synapse=jn.synapses.ExponentialConductance(tau_syn=5.0, e_rev=0.0),
        plasticity=rule,
    )
    return jn.Description(cells, [wires])


# %% Run it a hundredth of the whole at a time, and look at the weights in between
def run(seconds: float = 100.0, inputs: int = 1000, seed: int = 1) -> Course:
    net = jn.build(description(inputs), key=seed, dt=0.1)
    state: Any = net.init(seed)
    chunk = round(100.0 * seconds) / 10.0  # ms
    weights, rates = [net.weights(state, "inputs->output")], [np.nan]
    for _ in range(100):
        result = jn.simulate(net, chunk, state=state)
        state = result.state
        weights.append(net.weights(state, "inputs->output"))
        rates.append(result.rate("output"))
    times = 1e-3 * chunk * np.arange(len(weights))
    return Course(times, np.array(weights) / G_MAX, np.array(rates))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=100.0)
    parser.add_argument("--inputs", type=int, default=1000, help="fewer have a higher rate")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="song2000.png", help="the figure")
    args = parser.parse_args()
    course = run(args.seconds, args.inputs, args.seed)
    print("  time   weights below 0.1   above 0.9   output")
    for row in (0, 10, 20, 40, 60, 80, 100):
        low, high = course.shares(row)
        print(f"{course.times[row]:4.0f} s {low:13.1%} {high:13.1%} {course.rates[row]:8.1f} Hz")
    # The weights at the end, their distribution, and how it came about
    widths = {"width_ratios": (2, 1, 2.4), "sharey": True, "layout": "constrained"}
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10, 3.2), **widths)
    inputs = args.inputs
    left.plot(np.arange(inputs), course.weights[-1], ".", ms=3, color="#1f4e9c")
    left.set(xlabel="input", ylabel="weight (parts of the largest)", xlim=(0, inputs))
    bins = np.linspace(0.0, 1.0, 21)
    for row, color, label in ((0, "#b0b0b0", "start"), (-1, "#1f4e9c", "end")):
        how = {"orientation": "horizontal", "histtype": "step", "color": color, "label": label}
        middle.hist(course.weights[row], bins, **how)
    middle.set(xlabel="inputs")
    middle.legend(frameon=False, fontsize=8)
    counts = np.array([np.histogram(w, bins)[0] for w in course.weights[1:]]).T / inputs
    image = right.pcolormesh(course.times, bins, 100 * counts, cmap="Blues", vmin=0, vmax=25)
    shown = np.argsort(course.weights[0])[inputs // 10 :: inputs // 5]
    right.plot(course.times, course.weights[:, shown], lw=0.8, color="#c8641e")
    right.set(xlabel="time (s)", xlim=(0, course.times[-1]), ylim=(-0.02, 1.02))
    right.set_title("all inputs, and five of them", fontsize=9)
    figure.colorbar(image, label="inputs (%)", extend="max")
    figure.savefig(args.out, dpi=200)
    print(f"wrote {args.out}")
