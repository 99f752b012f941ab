"""BrainPy: the balanced network of NEST's example brunel_delta, with a fixed out-degree of N/10."""

from __future__ import annotations

from _common import arguments, pin


def main() -> None:
    args = arguments(neurons=12_500)
    pin(args.threads)
    import _brainpy
    import brainpy.state as bs
    import brainstate
    import brainunit as u
    import jax.numpy as jnp

    n = args.neurons
    n_exc, degree = int(0.8 * n), n // 10

    class Network(brainstate.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.neurons = bs.LIFRef(
                n,
                V_rest=0.0 * u.mV,
                V_th=20.0 * u.mV,
                V_reset=0.0 * u.mV,
                tau=20.0 * u.ms,
                tau_ref=2.0 * u.ms,
                spk_reset="hard",
            )
            conn = brainstate.nn.EventFixedNumConn
            exc = conn(n_exc, n, degree, 0.1 * u.mV)
            inh = conn(n - n_exc, n, degree, -0.5 * u.mV)
            self.exc = bs.DeltaProj(comm=exc, post=self.neurons)
            self.inh = bs.DeltaProj(comm=inh, post=self.neurons)
            self.late = brainstate.ShortTermState(jnp.zeros((15, n), bool))

        def step(self, i):
            with brainstate.environ.context(t=i * brainstate.environ.get_dt(), i=i):
                spikes = self.late.value[(i + 1) % 15]  # of 14 steps ago, delivered one later
                self.exc(spikes[:n_exc])
                self.inh(spikes[n_exc:])
                counts = brainstate.random.poisson(2.0, (n,)).astype(jnp.float32)
                self.neurons.add_delta_input("outside", 0.1 * u.mV * counts)
                self.neurons(0.0 * u.mA)
                fired = self.neurons.get_spike() != 0.0
                self.late.value = self.late.value.at[i % 15].set(fired)
                return jnp.sum(fired)

    _brainpy.run("brunel", args, Network, degree)


if __name__ == "__main__":
    main()
