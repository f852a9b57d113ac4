"""Numbers with their intervals, drawn with the characters of a terminal."""

from math import isfinite

from rag_evaluation_framework.report.page import Bar

_SIGNS = ("├", "─", "┤", "●", "┊", "━")
_PLAIN = ("|", "-", "|", "o", ":", "=")  # for terminals that have no others


def drawn(bar: Bar | None, scale: tuple[float, float], width: int, *, plain: bool = False) -> str:
    """Return a number as a point, its interval as a line with an end on either side, and 0 if the scale crosses it.

    An end that is not known is open: the line goes to the end of the scale. Of `Bar(0.5, (0.25, 0.75))` and a scale
    from 0 to 1, 9 characters are `"  ├─●─┤  "`; of the share `Bar(0.5)` they are `"━━━━━    "`.

    Args:
        bar: The number; nothing is drawn without one.
        scale: The values of the first and of the last character.
        width: How many characters there are.
        plain: Whether only ASCII can be shown.
    """
    left, through, right, point, zero, share = _PLAIN if plain else _SIGNS
    signs, (least, greatest) = [" "] * width, scale
    if least < 0 < greatest:
        signs[_at(0.0, scale, width)] = zero
    if bar is None or not isfinite(bar.value):
        return "".join(signs)
    if bar.ends is None:
        filled = _at(bar.value, scale, width) - _at(0.0, scale, width) + (bar.value > 0)
        return (share * filled).ljust(width)
    low, high = (_at(end, scale, width) for end in bar.ends)
    signs[low : high + 1] = through * (high + 1 - low)
    for sign, place, end in zip((left, right), (low, high), bar.ends, strict=True):
        if isfinite(end):
            signs[place] = sign
    signs[_at(bar.value, scale, width)] = point
    return "".join(signs)


def axis(scale: tuple[float, float], width: int) -> str:
    """Return the ends of a scale, and 0 if it crosses it, as a header."""
    least, greatest = scale
    left, right, middle = f"{least:.2g}", f"{greatest:.2g}", _at(0.0, scale, width)
    text = f"{left}{right:>{width - len(left)}}"
    has_room = least < 0 < greatest and not text[middle - 1 : middle + 2].strip()
    return f"{text[:middle]}0{text[middle + 1 :]}" if has_room else text


def _at(value: float, scale: tuple[float, float], width: int) -> int:
    """Return the character of a value; what is beyond the scale is at its end."""
    least, greatest = scale
    share = (min(max(value, least), greatest) - least) / (greatest - least)
    return round(share * (width - 1))
