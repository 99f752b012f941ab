"""Brian2: CUBA network (Brette et al. 2007, benchmark 2), exact integration."""

from __future__ import annotations

from _common import Stopwatch, arguments


def main() -> None:
    args = arguments()
    import _brian2
    from brian2 import NeuronGroup, ms, mV

    _brian2.set_up(args)
    with Stopwatch() as making:
        group = NeuronGroup(
            args.neurons,
            """dv/dt = (ge + gi - (v-El))/taum : volt (unless refractory)
            dge/dt = -ge/taue : volt
            dgi/dt = -gi/taui : volt""",
            threshold="v > Vt",
            reset="v = Vr",
            refractory=5 * ms,
            method="exact",
            namespace={
                **{"taum": 20 * ms, "taue": 5 * ms, "taui": 10 * ms},
                **{"El": -49 * mV, "Vt": -50 * mV, "Vr": -60 * mV},
            },
        )
        group.v = "Vr + rand()*(Vt-Vr)"
        synapses = _brian2.connect(group, exc="ge += 1.62*mV", inh="gi -= 9*mV")
    _brian2.run("cuba", args, group, synapses, making.wall)


if __name__ == "__main__":
    main()
