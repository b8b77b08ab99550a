"""The names that a program imports from the package."""

import concord_embedded
import pytest


@pytest.mark.parametrize("name", concord_embedded.__all__)
def test_an_exported_name_is_there(name: str) -> None:
    """W4 Also the error that a program catches where the system cannot start."""
    assert getattr(concord_embedded, name).__name__ == name
