"""Whether a projection names the port of a receptor that has several."""

from .._types import Synapse


def check_receptor(label: str, synapse: Synapse) -> None:
    """Raises `ValueError` for a receptor with ports of which none is named."""
    if synapse.ports:
        kind = type(synapse).__name__
        raise ValueError(
            f"{label}: {kind} has several inputs, {', '.join(map(repr, synapse.ports))}: name one "
            f"of them, synapse=jn.synapses.Into({kind}(...), {synapse.ports[0]!r})"
        )
