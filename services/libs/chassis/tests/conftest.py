"""Lets these tests import `chassis_probe`, which stands beside them and is not installed."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
