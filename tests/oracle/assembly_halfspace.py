"""Half-spaces with a margin, learnt by one assembly from positive examples only.

Samples switch on input neurons.  Of the first k of n, a positive one switches on exactly
ceil((m + margin) sqrt(k)), a negative one floor((m - margin) sqrt(k)) or none, m = k sqrt(k) / n;
each other neuron is on with probability k / n.  m + margin is the projection on the unit vector
along the first k.

Training: n neurons start silent.  In round r < 5 the r-th positive sample fires into them, together
with their last winners; k win; edges from what fired to winners grow by 1 + beta.
Test: each sample fires once, without recurrence and without plasticity.  The class is the k
neurons that won for most positive samples.  A sample of which more than k / 2 winners are in the
class is called positive.

Homeostasis.  "once": every weight is divided by the sum over the edges into its neuron, fibre by
fibre, before training and after it, as in the published program.  "always": the sum is taken anew
in each round, which is the law of areas with homeostasis.  "after": once, after training.  Edges
have probability p; a neuron has none to itself with `loops=False`, as published.

Dabagia, Papadimitriou and Vempala (2022), "Assemblies of neurons learn to classify well-separated
distributions", COLT; `Halfspace.ipynb` of github.com/mdabagia/learning-with-assemblies.
"""

import numpy as np


def samples(rng, count, n, k, margin):
    """Positive and negative samples, bool (count, n) each."""
    mean = k / n * np.sqrt(k)
    both = []
    for on in (np.ceil((mean + margin) * np.sqrt(k)), np.floor((mean - margin) * np.sqrt(k))):
        x = rng.random((count, n)) < k / n
        x[:, :k] = rng.random((count, k)).argsort(1).argsort(1) < on
        both.append(x)
    return both


def _winners(x, k):
    """Caps as bool rows; of equal inputs the lower index."""
    order = np.argsort(-x, axis=-1, kind="stable")[..., :k]
    cap = np.zeros(x.shape, bool)
    np.put_along_axis(cap, order, True, -1)
    return cap


def accuracy(
    seed, margin, homeostasis="once", n=1000, k=100, p=0.1, beta=1.0, rounds=5, loops=True
):
    """The share of 1000 positive and 1000 negative samples that are told apart."""
    rng = np.random.default_rng(seed)
    positive, negative = samples(rng, 1000, n, k, margin)
    feed, back = (rng.random((n, n)) < p).astype(float), (rng.random((n, n)) < p).astype(float)
    if not loops:
        np.fill_diagonal(back, 0.0)

    def scaled(w):
        return w / np.maximum(w.sum(0), 1e-300)

    if homeostasis == "once":
        feed, back = scaled(feed), scaled(back)
    each = scaled if homeostasis == "always" else np.asarray
    cap = np.zeros(n, bool)
    for sample in positive[:rounds]:
        new = _winners(sample @ each(feed) + cap @ each(back), k)
        feed[np.ix_(sample, new)] *= 1 + beta
        back[np.ix_(cap, new)] *= 1 + beta
        cap = new
    feed = scaled(feed)
    caps = [_winners(x @ feed, k) for x in (positive.astype(float), negative.astype(float))]
    known = _winners(caps[0].sum(0), k)
    called = [(c & known).sum(1) > k / 2 for c in caps]
    return float((called[0].mean() + 1 - called[1].mean()) / 2)
