"""Brian2: Poisson inputs of 10 Hz onto LIF neurons, additive STDP on a tenth of all pairs."""

from __future__ import annotations

from _common import Stopwatch, arguments


def main() -> None:
    args = arguments(1000)
    import _brian2
    from brian2 import Hz, NeuronGroup, PoissonGroup, Synapses, ms

    _brian2.set_up(args)
    with Stopwatch() as making:
        inputs = PoissonGroup(10 * args.neurons, 10 * Hz)
        group = NeuronGroup(
            args.neurons,
            """dv/dt = (0.08*mV*g - (v+70*mV))/(20*ms) : volt (unless refractory)
            dg/dt = -g/(2*ms) : 1""",
            threshold="v > -55*mV",
            reset="v = -70*mV",
            refractory=2 * ms,
            method="exact",
        )
        group.v = "-70*mV + 15*mV*rand()"
        synapses = Synapses(
            inputs,
            group,
            """w : 1
            dx/dt = -x/(20*ms) : 1 (event-driven)
            dy/dt = -y/(20*ms) : 1 (event-driven)""",
            on_pre="g += w; x += 1; w = clip(w - 0.21*y, 0, 20)",
            on_post="y += 1; w = clip(w + 0.2*x, 0, 20)",
        )
        synapses.connect(p=100.0 / args.neurons)
        synapses.w = "20*rand()"
    _brian2.run("stdp", args, group, (synapses,), making.wall, (inputs,))


if __name__ == "__main__":
    main()
