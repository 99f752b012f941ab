"""Releases, transmitters and the receptors that they open: their cases and settings."""

import jaxneuro as jn
from tests.oracle import release, transmitters
from tests.oracle.threefry import stream_key
from tests.zoo_case import Case, Setting
from tests.zoo_stimuli import NAME, SEED

rl, syn = jn.release, jn.synapses
GATES = {"g_ampa": 0.9, "g_nmda": 0.7, "g_gaba": 1.3, "mg": 0.4}
REVERSALS = {"e_ampa": 3.0, "e_nmda": -4.0, "e_gaba": -75.0}
DESTEXHE = syn.DestexheKinetics(1.2, 0.3)
DECAY = syn.ExponentialDecayKinetics(0.9, 1.7)
BOUNDED = syn.ApproximateKinetics(0.8)


def quantal(params, inputs, n, dt):
    return release.quantal(params, inputs, n, dt, stream_key(SEED, NAME, "stimulus"))


SETTINGS: dict[str, Setting] = {
    name: Setting(concentrations=True)
    for name in ("LigandGated", "LigandGatedNMDA", "Ionotropic", "DopaGluGABA")
}
CASES: dict[str, Case] = {
    "TsodyksMarkram": Case(rl.TsodyksMarkram(0.4, 90.0, 30.0), release.by_events(release.tsodyks2)),
    "TsodyksMarkram, no facilitation": Case(
        rl.TsodyksMarkram(0.55, 130.0), release.by_events(release.tsodyks2), silent=("tau_fac",)
    ),
    "TsodyksMarkram, jump first": Case(
        rl.TsodyksMarkram(0.2, 80.0, 150.0, "jump first"), release.by_events(release.jump_first)
    ),
    "NMDAGate": Case(rl.NMDAGate(2.3, 90.0, 0.4), release.by_events(release.nmda_gate)),
    "QuantalRelease": Case(rl.QuantalRelease(0.45, 20.0, 15.0, 5), quantal),
    "VoltageRelease": Case(rl.VoltageRelease(0.9, -55.0, 4.0), release.voltage),
    "RateRelease": Case(rl.RateRelease(17.0), release.rate),
    "ClearedTransmitter": Case(rl.ClearedTransmitter(0.9, 0.13), transmitters.cleared),
    "DecayingTransmitter": Case(rl.DecayingTransmitter(0.9, 0.3), transmitters.decaying),
    "PulsedTransmitter": Case(rl.PulsedTransmitter(0.9), transmitters.pulsed),
    "LigandGated": Case(syn.LigandGated(DESTEXHE, 1.1, -68.0), transmitters.one_gate),
    "LigandGated, exponential decay": Case(
        syn.LigandGated(DECAY, 1.1, -68.0), transmitters.one_gate
    ),
    "LigandGatedNMDA": Case(syn.LigandGatedNMDA(BOUNDED, 0.7, 0.4, -3.0), transmitters.one_gate),
    "Ionotropic": Case(
        syn.Ionotropic(DESTEXHE, DECAY, BOUNDED, **GATES, **REVERSALS),
        transmitters.ionotropic,
    ),
    "DopaGluGABA": Case(
        syn.DopaGluGABA(
            *(DECAY, BOUNDED, DESTEXHE, BOUNDED, DESTEXHE),
            **GATES,
            **REVERSALS,
            s_d1=0.8,
            s_d2=0.4,
        ),
        transmitters.dopa_glu_gaba,
    ),
}
