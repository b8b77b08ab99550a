"""Cursors of partitions: what is kept has no open work before it, at any number of spaces."""

from concord_chassis.channel.cursors import START, Cursor, PartitionCursors


def at(number: int) -> Cursor:
    """The cursor of a change."""
    return Cursor(number, f"d{number}")


def test_a_kept_cursor_has_no_open_work_before_it() -> None:
    """S10 A1 Spaces end in any order; one that is open again does not let its partition go on."""
    cursors = PartitionCursors({0: at(1), 1: at(7)})
    cursors.begin({0: at(1), 1: at(7)})
    for number, space in ((2, "a"), (3, "b"), (4, "c")):
        cursors.hear(0, space, at(number))
    open_ = {"a", "c"}

    assert cursors.done(open_.__contains__) == {0: at(1), 1: at(7)}
    open_ = {"c"}
    assert cursors.done(open_.__contains__) == {0: at(3), 1: at(7)}
    cursors.hear(0, "a", at(5))
    open_ = {"a"}
    assert cursors.done(open_.__contains__)[0] == at(4)
    cursors.open(0, "z")
    open_ = {"a", "z"}
    assert cursors.done(open_.__contains__)[0] == START
    assert cursors.done(set[str]().__contains__)[0] == at(5)


def test_many_open_spaces_are_not_all_asked_about() -> None:
    """S10 W7 While the first space of a partition is open, none behind it is asked about: the loop
    of a system of 50,000 spaces stood still for this every two seconds."""
    cursors, asked = PartitionCursors({}), list[str]()
    cursors.begin({0: START})
    for number in range(1, 10_001):
        cursors.hear(0, f"s{number}", at(number))

    def is_open(space: str) -> bool:
        asked.append(space)
        return space not in ("s1", "s2")

    assert cursors.done(is_open) == {0: at(2)}
    assert asked == ["s1", "s2", "s3"]
