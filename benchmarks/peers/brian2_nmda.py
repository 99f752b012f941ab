"""Brian2: COBA whose excitation has saturating NMDA receptors, with one gate of each source."""

from __future__ import annotations

import math

from _common import Stopwatch, arguments

RATE, V, AMPA_CHARGE = 0.0148, -55.0, 30.0  # per ms, mV, nS ms: what the weight makes up for
RISE, DECAY, ALPHA = 2.0, 100.0, 0.5
G_LEAK = 10.0  # nS, the unit of the conductances below


def jumps() -> tuple[float, float]:
    """A spike adds k_0 + k_1 s to the gate s: Wang's gate long after the spike."""
    z, a = ALPHA * RISE, 1 - RISE / DECAY
    series, term = 0.0, 1 / a
    for k in range(1, 40):
        series, term = series + term, term * z / (a + k)
    return z * math.exp(-z) * series, math.expm1(-z)


def main() -> None:
    args = arguments()
    import _brian2
    from brian2 import NeuronGroup, ms, mV

    _brian2.set_up(args)
    k_0, k_1 = jumps()
    s = RATE * DECAY * k_0 / (1 - RATE * DECAY * k_1)
    passed = 1 / (1 + math.exp(-0.062 * V) / 3.57)
    weight = RATE * AMPA_CHARGE / (passed * s) / G_LEAK
    with Stopwatch() as making:
        group = NeuronGroup(
            args.neurons,
            """dv/dt = (gn*B*(Ee-v) + gi*(Ei-v) - (v-El) + drive)/taum : volt (unless refractory)
            B = 1/(1 + exp(-0.062*v/mV)/3.57) : 1 (constant over dt)
            dgn/dt = -gn/taun : 1
            dgi/dt = -gi/taui : 1
            ds/dt = -s/taun : 1""",
            threshold="v > Vt",
            # Synapses are before resets: they deliver what s of before the spike releases.
            reset=f"v = Vr; s += {k_0!r} + {k_1!r}*s",
            refractory=5 * ms,
            method="exponential_euler",
            namespace={
                **{"taum": 20 * ms, "taun": DECAY * ms, "taui": 10 * ms, "drive": 20 * mV},
                **{"El": -60 * mV, "Ee": 0 * mV, "Ei": -80 * mV, "Vt": -50 * mV, "Vr": -60 * mV},
            },
        )
        group.v = "Vr + rand()*(Vt-Vr)"
        group.s = s
        group.gn = 0.8 * min(80, args.neurons) * weight * s
        synapses = _brian2.connect(
            group,
            exc=f"gn_post += {weight!r}*({k_0!r} + {k_1!r}*s_pre)",
            inh="gi += 6.7",
        )
    _brian2.run("nmda", args, group, synapses, making.wall)


if __name__ == "__main__":
    main()
