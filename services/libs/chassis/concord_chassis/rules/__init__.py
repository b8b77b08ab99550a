"""The contract's field rules, compiled once at start into closures.

`Rulebook.check_for(descriptor)` gives a `MessageCheck`; `breaches(message)` lists what it finds,
at most `MAX_VIOLATIONS`. Paths are as in the contract: `memory.tags[3]`, `labels["a"].name`.
"""

from concord_chassis.rules.compiler import MessageCheck, Rulebook, rules_of
from concord_chassis.rules.finding import MAX_VIOLATIONS

__all__ = ["MAX_VIOLATIONS", "MessageCheck", "Rulebook", "rules_of"]
