"""Brian2: COBA with Tsodyks-Markram release, whose state is one of each source neuron.

Brian2's own examples keep x and u of each synapse; of each neuron they take less time.
"""

from __future__ import annotations

from _common import Stopwatch, arguments

RATE = 0.021  # per ms, at which the weights make up for the mean release
U, TAU_REC, TAU_FAC = 0.12, 40.0, 40.0


def main() -> None:
    args = arguments()
    import _brian2
    from brian2 import NeuronGroup, ms, mV

    _brian2.set_up(args)
    u = U * (1 + RATE * TAU_FAC) / (1 + U * RATE * TAU_FAC)
    x = 1 / (1 + u * RATE * TAU_REC)
    with Stopwatch() as making:
        group = NeuronGroup(
            args.neurons,
            """dv/dt = (ge*(Ee-v) + gi*(Ei-v) - (v-El) + drive)/taum : volt (unless refractory)
            dge/dt = -ge/taue : 1
            dgi/dt = -gi/taui : 1
            dx/dt = (1 - x)/tau_rec : 1
            du/dt = (U - u)/tau_fac : 1""",
            threshold="v > Vt",
            # Synapses are before resets: they deliver u and x of before the spike.
            reset="v = Vr; x -= u*x; u += U*(1 - u)",
            refractory=5 * ms,
            method="exponential_euler",
            namespace={
                **{"taum": 20 * ms, "taue": 5 * ms, "taui": 10 * ms, "drive": 20 * mV},
                **{"El": -60 * mV, "Ee": 0 * mV, "Ei": -80 * mV, "Vt": -50 * mV, "Vr": -60 * mV},
                **{"U": U, "tau_rec": TAU_REC * ms, "tau_fac": TAU_FAC * ms},
            },
        )
        group.v = "Vr + rand()*(Vt-Vr)"
        group.x, group.u = x, u
        gain = 1 / (u * x)
        synapses = _brian2.connect(
            group,
            exc=f"ge_post += {0.6 * gain!r}*u_pre*x_pre",
            inh=f"gi_post += {6.7 * gain!r}*u_pre*x_pre",
        )
    _brian2.run("stp", args, group, synapses, making.wall)


if __name__ == "__main__":
    main()
