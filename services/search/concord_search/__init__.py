"""Search: the derived index of memories, its ranking and its explanations.

Nothing here is the truth: the index follows graph's change feed and can be dropped and rebuilt.
Rooms: `servicer` translates, `usecases` say what happens, `domain` holds the formulas, `ports`
say what is needed from outside, `adapters` bring it, `bootstrap` joins them.
"""
