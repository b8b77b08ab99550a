"""Lets these tests import the modules in `contract/cases`, and gives them furnished spaces."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "contract" / "cases"))

from contract_fixtures import kept, template

__all__ = ["kept", "template"]
