"""NEST: CUBA network (iaf_psc_exp, exact integration)."""

from __future__ import annotations

from _common import arguments


def main() -> None:
    args = arguments()
    import _nest

    _nest.run(
        "cuba",
        args,
        "iaf_psc_exp",
        exc=16.2,
        inh=-90.0,
        C_m=200.0,
        tau_m=20.0,
        E_L=-49.0,
        V_reset=-60.0,
        V_th=-50.0,
        tau_syn_ex=5.0,
        tau_syn_in=10.0,
        t_ref=5.0,
    )


if __name__ == "__main__":
    main()
