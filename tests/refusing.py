"""What is refused: whose field it is, and what was got; the words of the error are free."""

from collections.abc import Callable

import pytest

import jaxneuro as jn


def assert_refused(make: Callable[[], object], owner: str, field: str, got: str = "") -> None:
    """`make` raises an `InvalidValueError` for this field of this owner, and says what it got."""
    with pytest.raises(jn.InvalidValueError) as caught:
        make()
    error = caught.value
    assert (error.owner, error.field) == (owner, field), error
    assert got in error.got
    assert error.must
