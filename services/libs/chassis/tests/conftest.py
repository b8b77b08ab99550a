"""Lets these tests import `chassis_probe`, which is in their folder and not installed."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
