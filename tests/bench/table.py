"""Rows of figures: how they are judged, printed and kept."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Bar:
    """What a ratio (or a figure without a floor) has to keep to."""

    limit: float
    at_most: bool = True

    def met(self, value: float) -> bool:
        """Whether `value` keeps to it."""
        return value <= self.limit if self.at_most else value >= self.limit

    def __str__(self) -> str:
        return f"{'<=' if self.at_most else '>='} {self.limit:g}"


@dataclass(frozen=True)
class Row:
    """One line of the table. `figure` and `floor` hold (p50, p95), or one number."""

    what: str
    unit: str
    figure: tuple[float, ...]
    floor: tuple[float, ...] = ()
    floor_is: str = ""
    ratio: float | None = None
    bar: Bar | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the bar is met; None without a bar."""
        if self.bar is None:
            return None
        return self.bar.met(self.figure[0] if self.ratio is None else self.ratio)

    @property
    def verdict(self) -> str:
        """The last column."""
        return {None: "-", True: "met", False: "NOT MET"}[self.met]

    def record(self) -> dict[str, object]:
        """The row for a JSON file."""
        return {**asdict(self), "bar": str(self.bar or ""), "verdict": self.verdict}


HEAD = f"{'what':<46} {'floor':>18} {'figure':>18} {'unit':<6} {'ratio':>7} {'bar':>8}  verdict"


def line(row: Row) -> str:
    """A row as text; what its floor is and its note stand on lines of their own."""
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    bar = "" if row.bar is None else str(row.bar)
    text = (
        f"{row.what:<46} {_numbers(row.floor):>18} {_numbers(row.figure):>18} {row.unit:<6}"
        f" {ratio:>7} {bar:>8}  {row.verdict}"
    )
    below = [f"    floor: {row.floor_is}"] if row.floor_is else []
    return "\n".join([text, *below, *([f"    {row.note}"] if row.note else [])])


def summary(rows: Iterable[Row]) -> str:
    """What was missed, loudly; or that nothing was."""
    missed = [row for row in rows if row.met is False]
    if not missed:
        return "Every bar that was measured is met."
    lines = [f"  {row.what}: {_judged(row)}, bar {row.bar}" for row in missed]
    return "\n".join([f"!!! {len(missed)} BAR(S) NOT MET !!!", *lines])


def _judged(row: Row) -> str:
    return f"{row.figure[0]:.3g} {row.unit}" if row.ratio is None else f"ratio {row.ratio:.2f}"


def _numbers(values: tuple[float, ...]) -> str:
    return " / ".join(_number(value) for value in values)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3f}"
