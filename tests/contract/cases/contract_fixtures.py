"""Fixtures of the tests that need furnished spaces."""

import asyncio

import pytest
from contract_homes import Template, make_template


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """The furnished store files, made once."""
    with asyncio.Runner() as runner:
        return runner.run(make_template(tmp_path_factory.mktemp("homes")))
