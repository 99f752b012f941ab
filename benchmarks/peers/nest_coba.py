"""NEST: COBA network (iaf_cond_exp, adaptive RKF45); its drive of 200 pA is 20 mV * 10 nS."""

from __future__ import annotations

from _common import arguments


def main() -> None:
    args = arguments()
    import _nest

    _nest.run(
        "coba",
        args,
        "iaf_cond_exp",
        exc=6.0,
        inh=-67.0,
        C_m=200.0,
        g_L=10.0,
        E_L=-60.0,
        V_reset=-60.0,
        V_th=-50.0,
        E_ex=0.0,
        E_in=-80.0,
        tau_syn_ex=5.0,
        tau_syn_in=10.0,
        t_ref=5.0,
        I_e=200.0,
    )


if __name__ == "__main__":
    main()
