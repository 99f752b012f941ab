# %% [markdown]
# A choice between two actions, learned from reward alone. Spikes of a stimulus and of the actions
# leave traces of eligibility at the synapses between them, and the reward, which comes after the
# choice, turns these into changes of weight (Izhikevich 2007, doi:10.1093/cercor/bhl152). Beside
# it, as a control, networks that get the same rewards, shuffled over the trials. Run it:
# `python examples/two_choice.py [--trials 400] [--seeds 20] [--out two_choice.png]`

# %%
import argparse

import jax
import jax.numpy as jnp
import matplotlib
import numpy as np

import jaxneuro as jn

jn.configure_cpu()
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

DT, SHOWN, PAUSE = 0.5, 400, 600  # ms; steps: 200 ms of a stimulus, 300 ms of nothing
ACTIONS, INPUTS, CELLS = ("left", "right"), 50, 10  # neurons of each stimulus and each action
RATE, W_MAX, NAMES = 40.0, 20.0, ("rewarded", "rewards shuffled")  # Hz, pA


# %% The network: both stimuli reach both actions, which inhibit each other
def description() -> jn.Description:
    neuron = jn.neurons.LIF(tau_m=20.0, c_m=200.0, e_l=-65.0, v_th=-55.0, v_reset=-65.0)
    numbers = {"a_plus": 0.001, "a_minus": 0.0003, "tau_c": 200.0, "tau_n": 50.0, "w_max": W_MAX}
    rule = jn.plasticity.RewardModulatedSTDP(**numbers)  # type: ignore
    everyone, synapse = jn.connectivity.AllToAll(), jn.synapses.Exponential(5.0)
    cells = [jn.Population("stimuli", 2 * INPUTS, jn.neurons.PoissonSource(np.zeros(2 * INPUTS)))]
    start, wires, noise = jn.Uniform(0.3 * W_MAX, 0.5 * W_MAX), [], []
    for this, other in (ACTIONS, ACTIONS[::-1]):
        cells.append(jn.Population(this, CELLS, neuron, {"v": jn.Uniform(-65.0, -55.0)}))
        plastic = {"weight": start, "delay": 1.0, "plasticity": rule, "synapse": synapse}
        wires.append(jn.Projection("stimuli", this, everyone, **plastic))
        wires.append(jn.Projection(this, other, everyone, weight=-60, delay=1.0, synapse=synapse))
        noise.append(jn.Stimulation(this, jn.stimuli.Poisson(500.0), weight=20.0, synapse=synapse))
    return jn.Description(cells, wires, noise)


# %% A trial: the stimulus, the choice of the action that spikes more, the reward, a pause. What
# teaches is the reward without what was expected, its mean over the last trials
def trial(net: jn.Network, carry, given):
    (state, expected), (stimulus, coin, shuffled) = carry, given
    rates = jnp.where(jnp.arange(2 * INPUTS) // INPUTS == stimulus, RATE, 0.0)
    record, silence = jn.Record(spikes=False, rates=True), {"reward": jnp.zeros(SHOWN)}
    state, recorded = jn.scan(net.set("stimuli", rate=rates), state, SHOWN, silence, record)
    left, right = (recorded.counts[name].sum() for name in ACTIONS)
    correct = jnp.where(left == right, coin, jnp.int32(left < right)) == stimulus
    reward = jnp.where(shuffled < 0, jnp.float32(correct), shuffled)
    surprise = {"reward": jnp.zeros(PAUSE).at[0].set(reward - expected)}
    state, _ = jn.scan(net, state, PAUSE, surprise, record)
    return (state, expected + 0.05 * (reward - expected)), correct


# %% Trials of one network, and of all seeds at once; `shuffled` is -1 where the choice decides
def session(net: jn.Network, seed, *given):
    start = net.init(seed), jnp.float32(0.5)
    (state, _), correct = jax.lax.scan(lambda *x: trial(net, *x), start, given)
    return correct, jnp.array([net.weights(state, f"stimuli->{name}") for name in ACTIONS])


def run(trials: int = 400, seeds: int = 20):
    """Correct or not (seeds, trials) and weights (seeds, 2, synapses), with and without control."""
    net, rng = jn.build(description(), key=1, dt=DT), np.random.default_rng(1)
    every = jax.jit(jax.vmap(session, (None, 0, 0, 0, 0)))
    given = np.arange(seeds), *rng.integers(0, 2, (2, seeds, trials))
    learned = every(net, *given, np.full((seeds, trials), -1.0))
    control = every(net, *given, rng.permuted(np.asarray(learned[0], float), axis=1))
    return [[np.asarray(x) for x in part] for part in (learned, control)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--out", default="two_choice.png", help="the figure")
    args = parser.parse_args()
    print(f"correct, mean and range of {args.seeds} seeds:")
    parts = run(args.trials, args.seeds)
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    for (correct, weights), name, color in zip(parts, NAMES, ("#0072B2", "#8C8C8C")):
        late = correct[:, -100:].mean(1)
        print(f"{name:17} {late.mean():.3f} of the last 100 ({late.min():.2f} to {late.max():.2f})")
        shares = np.array([np.convolve(x, np.ones(20) / 20, "valid") for x in correct])
        at, band = np.arange(shares.shape[1]) + 20, np.percentile(shares, (10, 90), axis=0)
        left.plot(at, shares.mean(0), color=color, label=name)
        left.fill_between(at, *band, color=color, alpha=0.2, lw=0)
        (a, b), (c, d) = weights.reshape(len(weights), 2, 2, -1).mean(3).transpose(1, 2, 0)
        right.plot((a + d) / 2, (b + c) / 2, ".", color=color)
    right.axline((8.2, 8.2), slope=1.0, lw=0.5, color="black")
    right.set(xlabel="weight to the correct action (pA)", ylabel="to the other (pA)")
    left.set(xlabel="trial", ylabel="correct in the last 20", ylim=(0, 1.02))
    left.legend(frameon=False, loc="lower right")
    figure.savefig(args.out, dpi=200)
    print(f"wrote {args.out}")
