"""NEST: Poisson inputs of 10 Hz onto iaf_psc_exp neurons, additive STDP on a tenth of all pairs."""

from __future__ import annotations

from _common import DT_MS, arguments


def main() -> None:
    args = arguments(1000)
    import _nest
    import nest

    def make() -> int:
        generator = nest.Create("poisson_generator", params={"rate": 10.0})
        inputs = nest.Create("parrot_neuron", 10 * args.neurons)
        neurons = nest.Create(
            "iaf_psc_exp",
            args.neurons,
            params={
                **{"C_m": 250.0, "tau_m": 20.0, "E_L": -70.0, "V_reset": -70.0, "V_th": -55.0},
                **{"t_ref": 2.0, "tau_syn_ex": 2.0, "tau_minus": 20.0},
                "V_m": nest.random.uniform(-70.0, -55.0),
            },
        )
        nest.Connect(generator, inputs)
        nest.Connect(
            inputs,
            neurons,
            {"rule": "pairwise_bernoulli", "p": 100.0 / args.neurons},
            {
                **{"synapse_model": "stdp_synapse", "weight": nest.random.uniform(0.0, 20.0)},
                **{"delay": DT_MS, "tau_plus": 20.0, "Wmax": 20.0, "mu_plus": 0.0},
                **{"mu_minus": 0.0, "alpha": 1.05, "lambda": 0.01},
            },
        )
        return len(inputs)

    _nest.timed("stdp", args, make)


if __name__ == "__main__":
    main()
