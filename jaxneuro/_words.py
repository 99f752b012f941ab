"""Words of users for what there is, and examples of what to give: for messages."""

import difflib
from collections.abc import Collection

# How a value of a class is made, for messages.
MADE = {
    "Neuron": "jn.neurons.LIF()",
    "Rule": "jn.connectivity.FixedProbability(0.1)",
    "Synapse": "jn.synapses.Exponential(5.0)",
    "Stimulus": "jn.stimuli.Poisson(8000.0)",
    "Record": "jn.Record(variables={'E': 'v'})",
    "Description": "jn.Description(populations, projections, stimuli)",
    "Network": "jn.build(description, key, dt)",
}
# What to give for a parameter that is missing.
EXAMPLES = {
    "model": MADE["Neuron"],
    "rule": MADE["Rule"],
    "synapse": MADE["Synapse"],
    "stimulus": MADE["Stimulus"],
    "delay": "1.5",
    "dt": "0.1",
    "key": "0",
}
# Words for parameters, without capitals and underscores, that are not like their names here.
_WORDS = {
    **dict.fromkeys(("refractory", "refractoryperiod", "taurefrac", "taurefr", "trefr"), "t_ref"),
    **dict.fromkeys(("threshold", "vthresh", "spikethreshold", "vt"), "v_th"),
    **dict.fromkeys(("reset", "resetpotential", "vr"), "v_reset"),
    **dict.fromkeys(("rest", "vrest", "restingpotential", "urest", "vleak", "eleak"), "e_l"),
    **dict.fromkeys(("capacitance", "membranecapacitance", "c", "cap"), "c_m"),
    **dict.fromkeys(("conductance", "gleak", "leakconductance"), "g_l"),
    **dict.fromkeys(("reversal", "reversalpotential", "esyn", "vsyn"), "e_rev"),
}


def meant_by(word: str, names: Collection[str]) -> str:
    """The name that a word stands for, of some names; "" if it stands for none of them."""
    meant = _WORDS.get(word.lower().replace("_", ""), "")
    return meant if meant in names else ""


def nearest(name: str, names: list[str]) -> list[str]:
    """The known names that may be meant: the nearest one, else all that begin or end with it."""
    if meant := meant_by(name, names):
        return [meant]
    plain = {n: n.lower().replace("_", "") for n in reversed(names) if isinstance(n, str)}
    given = name.lower().replace("_", "")
    near = difflib.get_close_matches(given, plain.values(), n=1)
    if near:
        exact = difflib.get_close_matches(name, plain, n=1)
        return exact or [next(n for n in names if plain.get(n) == near[0])]
    ends = [n for n in names if n in plain and given and plain[n].startswith(given)]
    return ends[:3] if len(given) > 1 else []
