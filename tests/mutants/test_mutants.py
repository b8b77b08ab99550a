"""The changer changes what it says, and the lists of its targets name what is there (A2)."""

import json
from pathlib import Path

from tests.mutants.changing import mutants, names

FOLDER = Path(__file__).parent
SOURCE = '''
@marked(frozen=True)
class Rule:
    def holds(self, a, b):
        """Words of 1 rule are no code."""
        if not a < b and a != 2:
            raise ValueError
        self.note(a)
        return a is b
'''


def test_every_small_change_is_made_once() -> None:
    """A2 Comparisons, `and`, `not`, numbers, conditions, raises and lone calls: one at a time."""
    made = {mutant.name.removeprefix("Rule.holds: ") for mutant in mutants(SOURCE)}

    assert made == {
        "if not a < b and a != 2: -> if True:",
        "if not a < b and a != 2: -> if False:",
        "not a < b and a != 2 -> not a < b or a != 2",
        "not a < b -> bool(a < b)",
        "a < b -> a <= b",
        "a != 2 -> a == 2",
        "2 -> 3",
        "raise ValueError -> pass",
        "self.note(a) -> pass",
        "a is b -> a is not b",
    }


def test_targets_and_excuses_are_of_this_code() -> None:
    """A2 Each file and test of a target is there, and so is each mutant that is excused."""
    root = FOLDER.parents[1]
    for target in json.loads((FOLDER / "targets.json").read_text("utf-8")).values():
        paths = [root / each for each in target["files"]]
        assert all((root / each).exists() for each in [*target["tests"], *target["wider"]])
        excused = target.get("equivalent", {})
        known = (
            f"{path.stem}.{name}"
            for path in (paths if excused else [])
            for name in names(path.read_text("utf-8"))
        )
        assert set(excused) <= set(known)
