"""snnTorch: the task of `digits`, a loop over time in PyTorch.

The reset subtracts the threshold from the voltage after its decay. No gradient goes through it.
"""

from __future__ import annotations

from _common import pin
from _digits import (
    DECAY,
    LEARNING_RATE,
    SIZES,
    STEEPNESS,
    STEPS,
    Examples,
    parse_peer_options,
    run_peer_script,
    start_weights,
)


class SnnTorch:
    """A network of snnTorch with its optimiser."""

    def __init__(self, threads: int) -> None:
        import snntorch
        import torch

        torch.set_num_threads(threads)
        surrogate = snntorch.surrogate.fast_sigmoid(STEEPNESS)
        self.lif = snntorch.Leaky(beta=DECAY, reset_mechanism="subtract", spike_grad=surrogate)
        self.torch = torch

    def start(self, seed: int) -> None:
        torch, layers = self.torch, []
        for weights in start_weights(seed):
            layers.append(torch.nn.Linear(*weights.shape, bias=False))
            layers[-1].weight.data = torch.from_numpy(weights.T.copy())
        self.first, self.second = layers
        parameters = [layer.weight for layer in layers]
        self.optimiser = torch.optim.Adam(parameters, lr=LEARNING_RATE)

    def logits(self, spikes):
        torch = self.torch
        drive = self.first(torch.from_numpy(spikes))
        v = torch.zeros(len(spikes), SIZES[1])
        out = torch.zeros(len(spikes), SIZES[2])
        outs = []
        for step in range(STEPS):
            hidden, v = self.lif(drive[:, step], v)
            out = DECAY * out + self.second(hidden)
            outs.append(out)
        return torch.stack(outs).amax(0)

    def update(self, examples: Examples) -> None:
        labels = self.torch.from_numpy(examples.labels)
        self.optimiser.zero_grad()
        logits = self.logits(examples.spikes)
        self.torch.nn.functional.cross_entropy(logits, labels).backward()
        self.optimiser.step()

    def accuracy(self, examples: Examples) -> float:
        with self.torch.no_grad():
            answers = self.logits(examples.spikes).argmax(1).numpy()
        return float((answers == examples.labels).mean())


if __name__ == "__main__":
    options = parse_peer_options()
    pin(options.threads)
    packages = ["snntorch", "torch", "numpy"]
    run_peer_script("snntorch", packages, SnnTorch(options.threads), options)
