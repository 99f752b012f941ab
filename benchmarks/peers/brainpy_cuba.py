"""BrainPy: CUBA network (Brette et al. 2007, benchmark 2)."""

from __future__ import annotations

from _common import arguments, pin


def main() -> None:
    args = arguments()
    pin(args.threads)
    import _brainpy
    import brainpy.state as bs
    import braintools
    import brainunit as u

    def project(comm, post, exc: bool):
        zero = braintools.init.ZeroInit(unit=u.uA)
        tau = 5.0 if exc else 10.0
        return bs.AlignPostProj(
            comm=comm,
            syn=bs.Expon.desc(args.neurons, tau=tau * u.ms, g_initializer=zero),
            out=bs.CUBA.desc(scale=1.0),
            post=post,
        )

    def make():
        weights = 1.62 * u.uA, -9.0 * u.uA
        return _brainpy.Network(args.neurons, -49.0 * u.mV, 0.0 * u.uA, project, weights)

    _brainpy.run("cuba", args, make)


if __name__ == "__main__":
    main()
