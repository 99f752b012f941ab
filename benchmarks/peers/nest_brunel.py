"""NEST: the balanced network of its example brunel_delta (iaf_psc_delta), fixed in-degree."""

from __future__ import annotations

from _common import arguments


def main() -> None:
    args = arguments(neurons=12_500)
    import _nest
    import nest

    n = args.neurons
    n_exc = int(0.8 * n)

    def make() -> int:
        params = {"C_m": 1.0, "tau_m": 20.0, "t_ref": 2.0, "E_L": 0.0, "V_reset": 0.0, "V_m": 0.0}
        neurons = nest.Create("iaf_psc_delta", n, params={**params, "V_th": 20.0})
        noise = nest.Create("poisson_generator", params={"rate": 20_000.0})
        for name, weight in (("exc", 0.1), ("inh", -0.5)):
            nest.CopyModel("static_synapse_hom_w", name, {"weight": weight, "delay": 1.5})
        nest.Connect(noise, neurons, syn_spec="exc")
        rule = {"rule": "fixed_indegree"}
        nest.Connect(neurons[:n_exc], neurons, {**rule, "indegree": n_exc // 10}, "exc")
        nest.Connect(neurons[n_exc:], neurons, {**rule, "indegree": (n - n_exc) // 10}, "inh")
        return n

    _nest.timed("brunel", args, make)


if __name__ == "__main__":
    main()
