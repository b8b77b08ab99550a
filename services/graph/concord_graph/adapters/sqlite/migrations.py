"""How the store's schema grew, in numbered steps, and what they call (G16)."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from concord_stores.sqlite_file import Schema

from concord_graph.domain.spelling import backwards, folded


def _begin(db: sqlite3.Connection) -> None:
    db.execute("INSERT INTO meta VALUES ('epoch', ?)", (str(uuid.uuid4()),))


@dataclass(frozen=True)
class Steps:
    """A schema as its numbered steps: a file runs those that it lacks."""

    steps: Sequence[tuple[int, str]]

    @property
    def whole(self) -> Schema:
        """The schema that all steps come to, converted to from each of them."""
        scripts = [script for _, script in self.steps]
        conversions = {step: "\n".join(scripts[step:]) for step in range(1, len(scripts))}
        functions = (("folded", 1, folded), ("backwards", 1, backwards))
        return Schema(len(scripts), "\n".join(scripts), conversions, functions, _begin)

    def migrate(self, db: sqlite3.Connection) -> None:
        """Run the steps that a file lacks, all of them or none."""
        self.whole.prepare(db)


def _steps_in(folder: Path) -> Sequence[tuple[int, str]]:
    found = sorted(folder.glob("*.sql"))
    return [(number, path.read_text("utf-8")) for number, path in enumerate(found, 1)]


SCHEMA = Steps(_steps_in(Path(__file__).with_name("schema")))
