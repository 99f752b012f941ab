"""Brian2: the balanced network of NEST's example brunel_delta, fixed in-degree."""

from __future__ import annotations

from _common import Stopwatch, arguments


def main() -> None:
    args = arguments(neurons=12_500)
    import _brian2
    from brian2 import Hz, NeuronGroup, PoissonInput, Synapses, ms

    _brian2.set_up(args)
    n = args.neurons
    n_exc = int(0.8 * n)
    with Stopwatch() as making:
        group = NeuronGroup(
            n,
            "dv/dt = -v/taum : volt (unless refractory)",
            threshold="v > 20*mV",
            reset="v = 0*mV",
            refractory=2 * ms,
            method="exact",
            namespace={"taum": 20 * ms},
        )
        jump = "v {} int(not_refractory)"
        outside = PoissonInput(
            group, "v", N=1000, rate=20 * Hz, weight="0.1*mV*int(not_refractory)"
        )
        synapses = []
        for sign, weight, first, count in (
            ("+=", "0.1*mV*", 0, n_exc // 10),
            ("-=", "0.5*mV*", n_exc, (n - n_exc) // 10),
        ):
            s = Synapses(group, group, on_pre=jump.format(f"{sign} {weight}"), delay=1.5 * ms)
            last = n_exc if first == 0 else n
            s.connect(i=f"k for k in sample({first}, {last}, size={count})")
            synapses.append(s)
    _brian2.run("brunel", args, group, tuple(synapses), making.wall, (outside,))


if __name__ == "__main__":
    main()
