# %% [markdown]
# The four regimes of a sparsely connected network of excitatory and inhibitory neurons
# (Brunel 2000, fig. 8, doi:10.1023/A:1008925309027), each beside the rate of diffusion theory.
# Run it: `python examples/brunel.py [--neurons 12500] [--seconds 1] [--out brunel.png]`
#
# One network is built. `g`, the strength of inhibition relative to excitation, is the gain of
# the inhibitory projections; `eta`, the drive relative to what reaches the threshold without
# recurrent input, is the rate of the Poisson input. Smaller networks get stronger synapses.

# %%
import argparse

import matplotlib
import numpy as np

import jaxneuro as jn

jn.configure_cpu()
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("--neurons", type=int, default=12_500)
parser.add_argument("--seconds", type=float, default=1.0)
parser.add_argument("--out", default="brunel.png", help="the figure")
args = parser.parse_args()

REGIMES = {
    "synchronous regular": (3.0, 2.0),
    "synchronous irregular, fast": (6.0, 4.0),
    "asynchronous irregular": (5.0, 2.0),
    "synchronous irregular, slow": (4.5, 0.9),
}
tau_m, v_th, v_reset, t_ref, delay = 20.0, 20.0, 10.0, 2.0, 1.5
sizes = {"E": round(0.8 * args.neurons), "I": args.neurons - round(0.8 * args.neurons)}
inputs = {name: n // 10 for name, n in sizes.items()}
J = 0.1 * 1000 / inputs["E"]  # mV

# %% The network: a tenth of all neurons of each kind project to each neuron
neuron = jn.neurons.LIF(tau_m=tau_m, e_l=0.0, v_th=v_th, v_reset=v_reset, t_ref=t_ref)
delta = jn.synapses.Delta()
populations = [jn.Population(k, n, neuron, {"v": jn.Uniform(0.0, v_th)}) for k, n in sizes.items()]
projections = [
    jn.Projection(
        source,
        target,
        jn.connectivity.FixedIndegree(inputs[source]),
        weight=J if source == "E" else -J,
        delay=delay,
        synapse=delta,
    )
    for source in sizes
    for target in sizes
]
threshold_rate = 1e3 * v_th / (J * tau_m)  # Hz: the input that alone reaches the threshold
outside = jn.stimuli.Poisson(threshold_rate)
stimuli = [jn.Stimulation(k, outside, weight=J, synapse=delta, delay=delay) for k in sizes]
net = jn.build(jn.Description(populations, projections, stimuli), key=1, dt=0.1)
print(net)


# %% The theory: stationary rates from the mean and the variance of the input
def theory(g: float, eta: float) -> float:
    indegrees = np.array([[inputs["E"], inputs["I"]]] * 2)
    weights = np.array([[J, -g * J]] * 2)
    rates = jn.analysis.self_consistent_rates(
        indegrees, weights, tau_m, v_th, v_reset, t_ref, eta * threshold_rate, J, start=40.0
    )
    return float(rates[0])


# %% Run each regime, and draw 50 neurons over the rate of all excitatory ones
figure, axes = plt.subplots(2, 4, figsize=(10, 4), sharex="col", layout="constrained")
for (name, (g, eta)), (top, bottom) in zip(REGIMES.items(), axes.T):
    regime = net
    for target in sizes:
        regime = regime.set(f"I->{target}", gain=g)
        regime = regime.set(f"Poisson->{target}", rate=eta * threshold_rate)
    result = jn.simulate(regime, 1e3 * args.seconds, key=2)
    settled = 0.2 * result.stop
    rate = result.rate("E", start=settled)
    cv = jn.analysis.interval_cv(result, "E", start=settled)
    print(f"{name}: {rate:.1f} Hz, theory {theory(g, eta):.1f} Hz, CV {cv:.2f}")
    first = max(settled, result.stop - 100.0)
    times, neurons = result.events("E", start=first)
    shown = neurons < 50
    top.plot(times[shown], neurons[shown], "|", ms=2.5, mew=0.6, color="#1f4e9c")
    at, rates = jn.analysis.population_rate(result, "E", bin_ms=0.5, start=first)
    bottom.fill_between(at + 0.25, rates, step="mid", color="#1f4e9c", lw=0)
    top.set_title(
        f"{name}\n$g$ {g:g}, $\\eta$ {eta:g}: {rate:.1f} Hz, theory {theory(g, eta):.1f} Hz",
        fontsize=8,
    )
    bottom.set(xlabel="time (ms)", xlim=(first, result.stop))
axes[0, 0].set_ylabel("50 neurons")
axes[1, 0].set_ylabel("rate (Hz)")
figure.savefig(args.out, dpi=200)
print(f"wrote {args.out}")
