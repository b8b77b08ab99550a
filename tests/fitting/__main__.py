"""Fits weights and confidence on the development conversations, and writes `fitted.json`.

`python -m tests.fitting [FILE]`; the data is where the benchmarks' setting says. Figures of a
conversation come from a fit without it; what is written is fitted on all.
"""

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import uvloop
from concord_search.adapters.minilm.embedder import MiniLm

from tests.bench.__main__ import DATA_DEFAULT, DATA_SETTING
from tests.fitting.development import DATA, samples_of
from tests.fitting.profile import Fitted, fit
from tests.fitting.samples import Samples

FILE = Path(__file__).parents[2] / "services/search/concord_search/fitted.json"
SCRIPT = "python -m tests.fitting"


async def _samples(data: Path) -> Mapping[str, Samples]:
    embedder = MiniLm()
    await embedder.open()
    try:
        with tempfile.TemporaryDirectory() as folder:
            return {
                profile: await samples_of(profile, data, embedder, Path(folder) / profile)
                for profile in DATA
            }
    finally:
        await embedder.close()


def write(fitted: Mapping[str, Fitted], file: Path) -> None:
    """Writes what was fitted, with where it comes from."""
    profiles = {name: each.profile for name, each in fitted.items()}
    said = {
        "provenance": {
            "script": SCRIPT,
            "left_out": {name: each.figures for name, each in fitted.items()},
        },
        **{name: asdict(profile) for name, profile in profiles.items()},
    }
    file.write_text(json.dumps(said, indent=2) + "\n", "utf-8")


def main(file: Path, data: Path) -> int:
    """Fits and writes."""
    samples = uvloop.run(_samples(data))
    fitted = {name: fit(name, each) for name, each in samples.items()}
    write(fitted, file)
    for name, each in fitted.items():
        print(name, json.dumps(each.figures))
    return 0


if __name__ == "__main__":
    sys.exit(
        main(
            Path(sys.argv[1]) if sys.argv[1:] else FILE,
            Path(os.environ.get(DATA_SETTING) or DATA_DEFAULT),
        )
    )
