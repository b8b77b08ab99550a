"""Everything that a hand does."""

from tests.chaos import memory_deeds, other_deeds

DEEDS = (*memory_deeds.DEEDS, *other_deeds.DEEDS)
