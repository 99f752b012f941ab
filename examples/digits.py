# %% [markdown]
# Handwritten digits without a teacher, after Diehl and Cook (2015, doi:10.3389/fncom.2015.00099),
# on the 1,797 images of 8 x 8 pixels of scikit-learn. Pixels fire at random, STDP turns the weights
# of a neuron into an image of what it responds to; inhibition, and thresholds that rise with every
# spike, share the images out. Labels only say afterwards which digit a neuron stands for. Run it:
# `python examples/digits.py [--neurons 200] [--epochs 4] [--seeds 5] [--out digits.png]`

# %%
import argparse
import time

import jax
import numpy as np

import jaxneuro as jn

jn.configure_cpu()

DT, SHOWN, PAUSE = 0.5, 200.0, 50.0  # ms: an image is shown, then nothing
TOTAL, RATE = 20.0, 4000.0  # mV, sum of the weights of a neuron; Hz, sum over all pixels


# %% The network: pixels that fire at random, and neurons that learn and inhibit each other
def description(neurons: int) -> jn.Description:
    cell = jn.neurons.ALIF(tau_m=30.0, t_ref=5.0, beta=1.0, tau_theta=3000.0 * neurons)  # mV, ms
    pixels = jn.Population("pixels", 64, jn.neurons.PoissonSource(np.zeros(64)))
    cells = jn.Population("neurons", neurons, cell, {"theta": 25.0})
    stdp = jn.plasticity.TraceSTDP(a_plus=0.008, a_minus=0.0, w_max=2.0)  # mV
    held = jn.plasticity.Normalized(stdp, total=TOTAL, interval=SHOWN + PAUSE)
    start, delta = jn.Uniform(0.5 * TOTAL / 64, 1.5 * TOTAL / 64), jn.synapses.Delta()
    how = {"weight": start, "delay": DT, "synapse": delta, "plasticity": held, "name": "learned"}
    learned = jn.Projection("pixels", "neurons", jn.connectivity.AllToAll(), **how)
    others = jn.connectivity.AllToAll(autapses=False)
    slow = jn.synapses.ExponentialConductance(tau_syn=10.0, e_rev=-85.0)
    lateral = jn.Projection("neurons", "neurons", others, weight=160.0, delay=DT, synapse=slow)
    return jn.Description([pixels, cells], [learned, lateral])


# %% One program shows all images in turn, and counts the spikes of every neuron at every image
@jax.jit
def present(net: jn.Network, state, images: jax.Array):
    def one(state, image):
        shown = net.set("pixels", rate=RATE * image / image.sum())
        state, recorded = jn.scan(shown, state, round(SHOWN / DT))
        state, _ = jn.scan(net.set("pixels", rate=0.0 * image), state, round(PAUSE / DT))
        return state, recorded.spikes.dense("neurons").sum(0)  # type: ignore

    return jax.lax.scan(one, state, images)


# %% Learn, freeze, find out what each neuron responds to, and let them vote on new images:
# accuracy, weights (64, neurons), and the digit of each neuron
def learn(train, test, neurons: int, epochs: int, seed: int):
    (images, labels), rng = train, np.random.default_rng(seed)
    net = jn.build(description(neurons), key=seed, dt=DT)
    state = net.init(seed)
    for _ in range(epochs):
        state, _ = present(net, state, rng.permutation(images))
    state = net.freeze(state, "learned")
    rested = net.set("neurons", beta=0.0, tau_theta=1e12)  # thresholds stay as they are
    counts, answers = (np.asarray(present(rested, state, x)[1]) for x in (images, test[0]))
    means = np.array([counts[labels == k].mean(0) for k in range(10)])
    votes = answers @ (means / np.maximum(means.sum(0), 1e-9)).T
    weights = np.asarray(net.weights(state, "learned")).reshape(64, neurons)
    return np.mean(votes.argmax(1) == test[1]), weights, means.argmax(0)


# %% Another fifth of the images is held out with every seed
def run(neurons: int = 200, epochs: int = 4, images: int = 1797, seeds: int = 5):
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression

    (data, labels), found, last = load_digits(return_X_y=True), [], ()
    print("seed   network   logistic regression   time")
    for seed in range(seeds):
        start, order = time.perf_counter(), np.random.default_rng(1000 + seed).permutation(1797)
        test, train = ((data[x], labels[x]) for x in np.split(order[:images], [images // 5]))
        accuracy, *last = learn(train, test, neurons, epochs, seed)
        linear = LogisticRegression(max_iter=10_000).fit(train[0] / 16, train[1])
        found.append((accuracy, linear.score(test[0] / 16, test[1])))
        took = time.perf_counter() - start
        print("{:4} {:9.3f} {:21.3f} {:6.0f} s".format(seed, *found[-1], took), flush=True)
    print("mean {:9.3f} {:21.3f}".format(*np.mean(found, axis=0)))
    return np.array(found), *last


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name, value in (("neurons", 200), ("epochs", 4), ("images", 1797), ("seeds", 5)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--out", default="digits.png", help="the figure")
    args = parser.parse_args()
    _, weights, digits = run(args.neurons, args.epochs, args.images, args.seeds)
    images = weights.T[np.argsort(digits, kind="stable")]
    tiles = images.reshape(-1, 20, 8, 8)[::-1, :, ::-1]  # the first one at the top
    figure = jn.plot.lattice(tiles, tiles.shape, label="weight (mV)", size=(7.0, 3.6))
    figure.axes[0].set(xticks=[], yticks=[], xlabel="neurons, by digit", ylabel="")
    figure.savefig(args.out, dpi=200)
    print(f"wrote {args.out}")
