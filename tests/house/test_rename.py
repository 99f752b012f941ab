"""The script that rewrites names of 0.1 gives names that exist."""

import jaxneuro as jn
from scripts.rename_0_1 import METHODS, MOVED, renamed


def test_names_exist():
    for module, names in MOVED.items():
        for name in names:
            text, gone = renamed(f"x = jn.{module}.{name}(1)")
            assert not gone
            found = jn
            for part in text.removeprefix("x = jn.").removesuffix("(1)").split("."):
                found = getattr(found, part)


def test_what_is_gone_is_told():
    assert renamed("jaxneuro.kernels.deliver(x)") == (
        "jaxneuro.kernels.deliver(x)",
        ["jaxneuro.kernels.deliver"],
    )
    assert renamed("jn.neurons.LIF()") == ("jn.neurons.LIF()", [])


def test_methods_of_networks_are_known_by_their_arguments():
    text, _ = renamed("net.settled(state, 'E->E'), net.spread(), x.settled(rates), x.spread(1)")
    assert text == "net.flush(state, 'E->E'), net.expand(), x.settled(rates), x.spread(1)"
    assert all(hasattr(jn.Network, new) for new in METHODS.values())
