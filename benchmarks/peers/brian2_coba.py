"""Brian2: COBA network (Brette et al. 2007, benchmark 1), constant drive of 20 mV."""

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
            """dv/dt = (ge*(Ee-v) + gi*(Ei-v) - (v-El) + drive)/taum : volt (unless refractory)
            dge/dt = -ge/taue : 1
            dgi/dt = -gi/taui : 1""",
            threshold="v > Vt",
            reset="v = Vr",
            refractory=5 * ms,
            method="exponential_euler",
            namespace={
                **{"taum": 20 * ms, "taue": 5 * ms, "taui": 10 * ms, "drive": 20 * mV},
                **{"El": -60 * mV, "Ee": 0 * mV, "Ei": -80 * mV, "Vt": -50 * mV, "Vr": -60 * mV},
            },
        )
        group.v = "Vr + rand()*(Vt-Vr)"
        synapses = _brian2.connect(group, exc="ge += 0.6", inh="gi += 6.7")
    _brian2.run("coba", args, group, synapses, making.wall)


if __name__ == "__main__":
    main()
