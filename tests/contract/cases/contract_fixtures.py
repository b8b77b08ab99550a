"""Fixtures of the tests that need furnished spaces."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from contract_homes import Template, make_template
from contract_live import Live
from contract_search import whole_live


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """The furnished store files, made once."""
    with asyncio.Runner() as runner:
        return runner.run(make_template(tmp_path_factory.mktemp("homes")))


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def kept(template: Template, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Live]:
    """Every service over both homes, for what writes nothing."""
    store = template.copy(tmp_path_factory.mktemp("kept"))
    async with whole_live(store, template.enrolment) as live:
        yield live
