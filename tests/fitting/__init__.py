"""Fits what search ships as data: `python -m tests.fitting` writes `concord_search/fitted.json`."""
