# %% [markdown]
# 2,048 pyramidal cells on a ring, which excite their neighbours through NMDA receptors, and 512
# interneurons, which inhibit everyone, remember an angle (Compte et al. 2000,
# doi:10.1093/cercor/10.9.910): the bump of activity that a cue leaves stays. It diffuses, and a
# distractor pulls at it; both less if recurrent NMDA is 1.2 and GABA_A 1.4 times as strong. Run it:
# `python examples/working_memory.py [--seconds 6] [--seeds 8] [--out working_memory.png]`

# %%
import argparse

import matplotlib
import numpy as np

import jaxneuro as jn

jn.configure_cpu()
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

SETS = {"control": (1.0, 1.0), "modulated": (1.2, 1.4)}  # gains of recurrent NMDA and GABA_A
WEIGHTS, NOISE = {"EE": 0.381, "EI": 0.292, "IE": 1.336, "II": 1.024}, {"E": 3.1, "I": 2.38}  # nS
WINDOW, BEFORE, AFTER = 0.25, 4, 8  # s; windows before the cue and after the distractor
CUE, AWAY, PEAK, WIDTH = 180.0, 140.0, 375.0, 6.0  # degrees, degrees, pA, degrees


# %% The network: all to all; between pyramidal cells by angle, a Gaussian (sd 14.4 degrees) on a
# constant, with a mean of 1. In a smaller network synapses are stronger
def network(kind: str, neurons: int = 2048) -> jn.Network:
    away = 360.0 / neurons * np.minimum(np.arange(neurons), neurons - np.arange(neurons))
    bell, scale = np.exp(-((away / 14.4) ** 2) / 2), 2048 / neurons
    low = (1.0 - 1.62 * bell.mean()) / (1.0 - bell.mean())
    profile = WEIGHTS["EE"] * scale * (low + (1.62 - low) * bell)
    pyramidal = jn.neurons.LIF(tau_m=20.0, c_m=500.0, v_th=-50.0, v_reset=-60.0, t_ref=2.0)
    inter = jn.neurons.LIF(tau_m=10.0, c_m=200.0, v_th=-50.0, v_reset=-60.0, t_ref=1.0)
    nmda = {"synapse": jn.synapses.NMDA(), "release": jn.release.NMDAGate(), "gain": SETS[kind][0]}
    gaba = {"synapse": jn.synapses.GABA_A(tau_syn=10.0), "gain": SETS[kind][1]}
    wires, start, everyone = [], {"v": jn.Uniform(-60.0, -50.0)}, jn.connectivity.AllToAll()
    for pair, g in WEIGHTS.items():
        weight = (lambda i, j: profile[(i - j) % neurons]) if pair == "EE" else g * scale
        how = {"weight": weight, "delay": 0.1, **(nmda if pair[0] == "E" else gaba)}
        wires.append(jn.Projection(*pair, everyone, **how))  # type: ignore
    spikes, ampa = jn.stimuli.Poisson(1800.0), jn.synapses.AMPA()
    noise = [jn.Stimulation(k, spikes, weight=g, synapse=ampa) for k, g in NOISE.items()]
    sizes = ("E", neurons, pyramidal), ("I", neurons // 4, inter)
    cells = [jn.Population(*size, start) for size in sizes]
    return jn.build(jn.Description(cells, wires, noise), key=1, dt=0.1)


# %% A trial: nothing, the cue, the delay, a distractor AWAY from where the bump is, nothing. Spikes
# (s, degrees), and of each window the population vector and the rates of E (windows, neurons)
def trial(net: jn.Network, seed: int, seconds: float, cue: float = PEAK):
    n, state, found = net.populations["E"], net.init(seed), []
    theta = 360.0 / n * np.arange(n)
    for peak in [0.0] * BEFORE + [cue] + [0.0] * round(seconds / WINDOW) + [PEAK] + [0.0] * AFTER:
        at = CUE if len(found) <= BEFORE else CUE + AWAY + np.degrees(np.angle(found[-1][2]))
        current = peak * np.exp(-((((theta - at + 180.0) % 360.0 - 180.0) / WIDTH) ** 2) / 2)
        inputs = {"E": np.broadcast_to(np.float32(current), (round(1e3 * WINDOW / net.dt), n))}
        result = jn.simulate(net, 1e3 * WINDOW, state=state, inputs=inputs)
        state, (times, cells) = result.state, result.events("E")
        vector = np.exp(1j * np.radians(theta[cells] - CUE)).sum() / max(cells.size, 1)
        found.append((1e-3 * times, theta[cells], vector, np.bincount(cells, minlength=n) / WINDOW))
    return [join(x) for join, x in zip([np.concatenate] * 2 + [np.array] * 2, zip(*found))]


# %% Of vectors (trials, windows), in degrees: where the bump is from the cue, until the distractor;
# from then on, from where it was; its mean squared displacement by lag, and the slope of that
def drift(vectors: np.ndarray):
    angle = np.degrees(np.unwrap(np.angle(vectors[:, BEFORE:]), axis=1))
    held, late = angle[:, 3 : -AFTER - 1], angle[:, -AFTER - 2 :] - angle[:, [-AFTER - 2]]
    lags = np.arange(1, held.shape[1] // 2 + 1)
    squares = np.array([np.mean((held[:, k:] - held[:, :-k]) ** 2) for k in lags])
    return held, late, squares, squares @ lags / (lags @ lags) / WINDOW


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name, value in (("neurons", 2048), ("seconds", 6.0), ("seeds", 8), ("seed", 1)):
        parser.add_argument(f"--{name}", type=type(value), default=value)
    parser.add_argument("--out", default="working_memory.png", help="the figure")
    args = parser.parse_args()
    figure, ax = plt.subplot_mosaic("AAA;BCD", figsize=(9, 5.5), layout="constrained")
    for kind, color in zip(SETS, ("#D55E00", "#0072B2")):
        net = network(kind, args.neurons)
        trials = [trial(net, args.seed + k, args.seconds) for k in range(args.seeds)]
        held, late, squares, slope = drift(np.array([x[2] for x in trials]))
        print(f"{kind}: {slope:.1f} deg2/s, distractor {np.round(late[:, -1])} degrees")
        for key, y, at in (("B", held.T, 0.625), ("C", squares, WINDOW), ("D", late.T, -0.125)):
            ax[key].plot(at + WINDOW * np.arange(len(y)), y, ".-"[key != "C"], color=color, lw=0.8)
        ax["C"].axline((0, 0), slope=slope, color=color, lw=1, label=f"{kind}: {slope:.0f} deg²/s")
    ax["A"].plot(trials[0][0][::3], trials[0][1][::3], ",", color="black")
    for span in ((1.0, 1.25), (1.25 + args.seconds, 1.5 + args.seconds)):
        ax["A"].axvspan(*span, color="#009E73", alpha=0.3, lw=0)
    ax["A"].set(xlabel="time (s)", ylabel="degrees", xlim=(0, args.seconds + 3.5), ylim=(0, 360))
    ax["B"].set(xlabel="time since the cue (s)", ylabel="bump from the cue (degrees)")
    ax["C"].set(xlabel="lag (s)", ylabel="mean squared drift (deg²)", xlim=(0, None))
    ax["C"].legend(frameon=False, fontsize=8, handlelength=1.0)
    ax["D"].set(xlabel="time since the distractor (s)", ylabel="bump from before (degrees)")
    figure.savefig(args.out, dpi=120)
    print(f"wrote {args.out}")
