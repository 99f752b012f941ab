"""BrainPy: COBA network (Brette et al. 2007, benchmark 1), constant drive of 20 mV."""

from __future__ import annotations

from _common import arguments, pin


def main() -> None:
    args = arguments()
    pin(args.threads)
    import _brainpy
    import brainpy.state as bs
    import brainunit as u

    def project(comm, post, exc: bool):
        tau, reversal = (5.0, 0.0) if exc else (10.0, -80.0)
        return bs.AlignPostProj(
            comm=comm,
            syn=bs.Expon.desc(args.neurons, tau=tau * u.ms),
            out=bs.COBA.desc(E=reversal * u.mV),
            post=post,
        )

    def make():
        weights = 0.6 * u.mS, 6.7 * u.mS
        return _brainpy.Network(args.neurons, -60.0 * u.mV, 20.0 * u.uA, project, weights)

    _brainpy.run("coba", args, make)


if __name__ == "__main__":
    main()
