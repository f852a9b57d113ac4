"""Places in a document that were found already."""

from bisect import bisect_left, bisect_right


class Places:
    """Places in a document, of which none is within another, in order."""

    def __init__(self) -> None:
        self._starts, self._ends = list[int](), list[int]()

    def add(self, start: int, end: int) -> None:
        """Add a place that begins and ends behind all others."""
        self._starts.append(start)
        self._ends.append(end)

    def have(self, start: int, end: int) -> bool:
        """Return whether a place is within one of these or one of them within it: one place, seen twice."""
        around, within = bisect_right(self._starts, start) - 1, bisect_left(self._starts, start)
        return (around >= 0 and end <= self._ends[around]) or (within < len(self._ends) and self._ends[within] <= end)
