# %% [markdown]
# A memory in facilitated synapses (Mongillo, Barak, Tsodyks 2008, doi:10.1126/science.1150769). Of
# 8,000 excitatory neurons five groups of 800 stand for an item each. A cue excites one of them. It
# leaves a high u, the part of the resources that a spike uses, which needs 1.5 s to decay. At a low
# background the group is silent, but alone answers a weak input to all neurons, the read-out; at a
# higher one it repeats population spikes by itself. Without facilitation it does neither.
# Run it: `python examples/short_term_plasticity.py [--neurons 10000] [--out FILE]`

# %%
import argparse

import matplotlib
import numpy as np

import jaxneuro as jn

jn.configure_cpu()
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

ITEMS, CUE, READ, END = 5, (500.0, 850.0), (1650.0, 1900.0), 2500.0  # ms
LOW, HIGH = 23.0, 23.8  # mV, to which the background alone would bring the membrane


# %% The network. c_m = tau_m makes the leak 1 nS, and a pA a mV; noise alone gives v an sd of 1 mV
def network(neurons: int = 10_000, key: int = 1) -> jn.Network:
    n, p = round(0.8 * neurons), min(2000 / neurons, 1.0)  # as many inputs in a smaller network
    cells, drive = [], []
    for k, m, mV, tau, reset in (("E", n, LOW, 15.0, 16.0), ("I", neurons - n, 21.0, 10.0, 13.0)):
        cell = jn.neurons.LIF(tau_m=tau, c_m=tau, e_l=0.0, v_th=20.0, v_reset=reset)
        cells.append(jn.Population(k, m, cell, {"v": jn.Uniform(0.0, 20.0)}))
        drive.append(jn.Stimulation(k, jn.stimuli.WhiteNoise(mV, (4.0 * tau) ** 0.5, 0.5)))
    item = 1 + np.arange(n) * 10 // n
    rest = jn.Part("E", item > ITEMS)
    wires: list = [("weak", rest, "E", 0.1, 0.9 * p), ("strong", rest, "E", 0.45, 0.1 * p)]
    for k in range(1, 1 + ITEMS):
        one, others = jn.Part("E", item == k), jn.Part("E", item != k)
        wires += [(f"item {k}", one, one, 0.45, p), (f"item {k}->others", one, others, 0.1, p)]
    how: dict = {"delay": jn.Uniform(1.0, 5.0), "synapse": jn.synapses.Delta()}
    rule, stp = jn.connectivity.FixedProbability, jn.release.TsodyksMarkram.working_memory()
    projections = [
        jn.Projection(a, b, rule(q), weight=w, release=stp, release_name="stp", name=name, **how)
        for name, a, b, w, q in wires
    ]
    for a, b, w in (("E", "I", 0.135), ("I", "E", -0.25), ("I", "I", -0.2)):  # mV
        projections.append(jn.Projection(a, b, rule(p), weight=w, **how))
    for name, where, (on, off) in (("cue", jn.Part("E", item == 1), CUE), ("read", "E", READ)):
        drive.append(jn.Stimulation(where, jn.stimuli.Current(0.0), start=on, stop=off, name=name))
    return jn.build(jn.Description(cells, projections, drive), key=key, dt=0.1)


# %% A trial. x and u are those of a neuron, for all projections with this release
def trial(net: jn.Network, background: float, facilitates: bool, key: int = 1) -> jn.Result:
    net = net.set("WhiteNoise->E", mean=background).set("E.stp", tau_fac=1500.0 * facilitates)
    net = net.set("cue", amplitude=0.15 * background).set("read", amplitude=0.05 * background)
    record = jn.Record(variables={"E.stp": ("x", "u")}, interval=10.0)
    return jn.simulate(net, END, key=key, record=record)


# %% The rate of each item's neurons [Hz] from one time to another
def rates(result: jn.Result, start: float, stop: float) -> np.ndarray:
    times, neurons = result.events("E")
    size, inside = result.populations["E"] // 10, (times > start) & (times <= stop)
    return np.bincount(neurons[inside] // size, minlength=10)[:ITEMS] / size / (stop - start) * 1e3


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--neurons", type=int, default=10_000, help="2,000 hold a memory")
    parser.add_argument("--out", default="short_term_plasticity.png", help="the figure")
    args = parser.parse_args()
    net = network(args.neurons)
    figure, axes = plt.subplots(2, 4, figsize=(10, 5), sharey="row", layout="constrained")
    facilitation = (True, True, False, False)
    for column, background, facilitates in zip(axes.T, 2 * (LOW, HIGH), facilitation):
        result = trial(net, background, facilitates)
        name = f"{background} mV, {'with' if facilitates else 'no'} facilitation"
        for what, span in (("delay", (CUE[1] + 100.0, READ[0])), ("read-out", READ)):
            hz = rates(result, *span)
            print(f"{name}: {what} {hz[0]:.2f} Hz, other items {hz[1:].mean():.2f} Hz")
        times, neurons = result.events("E")
        item, number = np.divmod(neurons, result.populations["E"] // 10)
        some = (item < ITEMS) & (number < 80)
        look = {"s": 2.0, "lw": 0.0, "c": np.where(item[some] == 0, "#D55E00", "#0072B2")}
        column[0].scatter(times[some], 1 + item[some] + number[some] / 100, **look)
        for variable, colour in (("u", "#009E73"), ("x", "#CC79A7")):
            means = np.mean(np.split(result.traces["E.stp"][variable], 10, axis=1), axis=2)
            for k, line in ((0, "-"), (1, ":")):
                label = f"{variable} of item {k + 1}"
                column[1].plot(result.sample_times, means[k], line, color=colour, label=label)
        column[0].set_title(name, fontsize=9)
        column[1].set(xlabel="time (ms)", ylim=(0, 1))
        for axis, (start, stop) in ((axis, span) for axis in column for span in (CUE, READ)):
            axis.axvspan(start, stop, color="0.88", lw=0, zorder=0)
    axes[0, 0].set_ylabel("item (80 neurons of each)")
    axes[1, 0].set_ylabel("mean over neurons")
    axes[1, 3].legend(fontsize=7, loc="center right")
    figure.savefig(args.out, dpi=150)
    print(f"wrote {args.out}")
