"""The contract's field rules, compiled once at start into closures.

`Rulebook.check_for(descriptor)` returns a `MessageCheck`, whose `breaches(message)` returns up to
`MAX_VIOLATIONS` violations. Their paths use the contract's field names: `memory.tags[3]`,
`labels["a"].name`.
"""

from concord_chassis.call.rules.compiler import MessageCheck, Rulebook, rules_of
from concord_chassis.call.rules.finding import MAX_VIOLATIONS

__all__ = ["MAX_VIOLATIONS", "MessageCheck", "Rulebook", "rules_of"]
