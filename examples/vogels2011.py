# %% [markdown]
# Inhibitory plasticity in a network of 8,000 excitatory and 2,000 inhibitory neurons: the synapses
# from I to E start at 0 and grow until E fires at a low rate (Vogels et al. 2011,
# doi:10.1126/science.1211095, with the numbers of Brian2's example; its speed is `--eta 0.01`).
# The rule holds 3 Hz if connected neurons spike together as often as by chance. But inhibition
# keeps its target from spiking just after it, and the rate is higher by what that takes away. With
# five times as many synapses of a fifth of the strength (`--finer 5`) it is less. Run it:
# `python examples/vogels2011.py [--neurons 10000] [--seconds 100] [--out vogels2011.png]`

# %%
import argparse

import matplotlib
import numpy as np

import jaxneuro as jn

jn.configure_cpu()
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

TARGET, TAU = 3.0, 20.0  # Hz, ms


# %% The network. In Brian2's example weights are numbers of nS, as here
def description(neurons: int = 10_000, eta: float = 0.1, finer: int = 1) -> jn.Description:
    cell = jn.neurons.LIF(tau_m=20.0, c_m=200.0, e_l=-60.0, v_th=-50.0, v_reset=-60.0, t_ref=5.0)
    sizes = {"E": round(0.8 * neurons), "I": neurons - round(0.8 * neurons)}
    fewer = 10_000 / neurons / finer  # a smaller network has fewer and stronger synapses
    rule = jn.connectivity.FixedProbability(0.02 * finer)
    stdp = jn.plasticity.VogelsSTDP.with_target(TARGET, TAU, eta=eta * fewer, w_max=100.0 * fewer)
    fast = {"delay": 0.1, "synapse": jn.synapses.ExponentialConductance(tau_syn=5.0, e_rev=0.0)}
    slow = {"delay": 0.1, "synapse": jn.synapses.ExponentialConductance(tau_syn=10.0, e_rev=-80.0)}
    wires = [jn.Projection("E", k, rule, weight=0.3 * fewer, **fast) for k in sizes]
    wires.append(jn.Projection("I", "I", rule, weight=3.0 * fewer, **slow))
    wires.append(jn.Projection("I", "E", rule, weight=1e-10, plasticity=stdp, **slow))
    cells = [jn.Population(k, n, cell, {"v": jn.Uniform(-60.0, -50.0)}) for k, n in sizes.items()]
    drive = [jn.Stimulation(k, jn.stimuli.Current(200.0)) for k in sizes]
    return jn.Description(cells, wires, drive)


# %% A second without plasticity, then the rate of E in every second with it, then ten without
def run(net: jn.Network, seconds: int, seed: int = 1):
    before = jn.simulate(net, 1000.0, state=net.freeze(net.init(seed), "I->E"))
    state, rates, record = before.state, [before.rate("E")], jn.Record(spikes=False, rates=True)
    state = net.resume(state, "I->E")  # type: ignore
    for _ in range(seconds):
        result = jn.simulate(net, 1000.0, state=state, record=record)
        state = result.state
        rates.append(result.counts["E"].sum() / net.populations["E"])
    after = jn.simulate(net, 10_000.0, state=net.freeze(state, "I->E"))  # type: ignore
    return np.array(rates), before, after


# %% How often spikes of connected neurons of I and E meet, as the rule counts it: 1 by chance
def coincidence(net: jn.Network, after: jn.Result, pairs: int = 3000) -> float:
    wires, met, chance = net.connections("I->E"), 0.0, 0.0
    for k in np.random.default_rng(0).integers(0, len(wires), pairs):
        pre = after.spikes["I"].of(int(wires.pre[k]))
        post = after.spikes["E"].of(int(wires.post[k]))
        met += np.exp(-np.abs(post[:, None] - pre) / TAU).sum()
        chance += post.size * pre.size * 2.0 * TAU / after.duration
    return met / chance


# %% After how many seconds the rate of 10 s stays within 5 % of what it is in the end
def settled(rates: np.ndarray) -> int:
    smooth = np.convolve(rates[1:], np.ones(10) / 10, "valid")
    away = np.flatnonzero(np.abs(smooth / rates[-20:].mean() - 1.0) > 0.05)
    return int(away[-1]) + 11 if away.size else 10


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name, value in (("neurons", 10_000), ("seconds", 100), ("eta", 0.1), ("finer", 1)):
        parser.add_argument(f"--{name}", type=type(value), default=value)
    parser.add_argument("--out", default="vogels2011.png", help="the figure")
    args = parser.parse_args()
    net = jn.build(description(args.neurons, args.eta, args.finer), key=1, dt=0.1)
    rates, before, after = run(net, args.seconds)
    factor, rate = coincidence(net, after), rates[-20:].mean()
    print(f"rate of E: {rates[0]:.1f} Hz before, {rate:.2f} after; settled in {settled(rates)} s")
    print(f"connected neurons spike together {factor:.3f} times as often as by chance: with that,")
    print(f"{TARGET:g} Hz are {TARGET / factor:.2f}; off by {rate * factor / TARGET - 1:+.1%}")
    figure, axes = plt.subplots(2, 2, figsize=(9, 5), layout="constrained")
    for axis, result, name in zip(axes[0], (before, after), ("before", "after")):
        times, neurons = result.events("E")
        last, shown = times - result.stop + 200.0, neurons < 500
        axis.plot(last[shown], neurons[shown], ".", ms=1.5, color="#0072B2")
        axis.set(title=name, xlabel="time (ms)", ylabel="500 neurons of E", xlim=(0, 200))
    axes[1, 0].semilogy(np.arange(rates.size) + 0.5, rates, color="#0072B2")
    for rate, line in ((TARGET, "-"), (TARGET / factor, "--")):
        axes[1, 0].axhline(rate, lw=0.8, ls=line, color="black")
    axes[1, 0].set(xlabel="time (s)", ylabel="rate of E (Hz)", ylim=(2, 300))
    axes[1, 1].hist(net.weights(after.state, "I->E"), 100, log=True, color="#D55E00")  # type: ignore
    axes[1, 1].set(xlabel="weight from I to E (nS)", ylabel="synapses")
    figure.savefig(args.out, dpi=200)
    print(f"wrote {args.out}")
