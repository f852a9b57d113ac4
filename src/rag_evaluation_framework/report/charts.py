"""Charts as data: specifications of Vega-Lite 6 with their values.

Colours are those of Okabe and Ito, which people tell apart however they see colours, with a shape beside each; heat
maps have the numbers in their fields. Texts are values, so that nothing of them is taken for an expression.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from ..runs.shown import finite
from ..statistics import MeanScore

Values = Sequence[Mapping[str, Any]]

COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c8c8c"]
"""As many series as can be told apart."""

_SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right"]
_INK, _LINE = "#57606a", "#8c959f"
_WIDE, _HIGH = 560, 300
_HIGH_END: Mapping[str, Any] = {"field": "high"}
_POINT: Mapping[str, Any] = {"type": "point", "filled": True, "size": 70, "opacity": 1}
_TEXT = {"labelColor": _INK, "titleColor": _INK, "titleFontWeight": "normal", "labelFontSize": 12, "titleFontSize": 12}
_CONFIG: Mapping[str, Any] = {
    "font": "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif",
    "view": {"stroke": None},
    "axis": _TEXT
    | {"titlePadding": 10, "gridColor": _LINE, "gridOpacity": 0.3, "domainColor": _LINE, "tickColor": _LINE},
    "legend": _TEXT | {"labelLimit": 500, "orient": "bottom", "direction": "vertical"},
}


BUDGETS = {"ch": "budget in characters", "tok": "budget in tokens"}
"""The titles of axes of budgets, by their unit."""


def interval_of(mean: MeanScore | None) -> dict[str, Any]:
    """Return `mean`, `low` and `high` of a mean, None for a bound that is not known."""
    return finite({"mean": mean.mean, "low": mean.low, "high": mean.high}) if mean else {}


def curves(values: Values, x_title: str, y_title: str, description: str) -> dict[str, Any]:
    """Return lines with a point and its interval at each value, moved apart a little so that no interval hides another.

    Areas would: of a dozen systems, intervals are wider than what is between the lines.

    Args:
        values: `series`, `x` above 0, `mean`, and `low` and `high`, None where they are not known; at most 7 series.
        x_title: The title of the axis below.
        y_title: The title of the axis on the left.
        description: What the picture shows, for those who do not see it.
    """
    names = [*dict.fromkeys(value["series"] for value in values)]
    ticks = sorted({value["x"] for value in values})
    apart = min((after / before for before, after in pairwise(ticks)), default=2.0) ** (0.4 / len(names))
    middle = (len(names) - 1) / 2
    placed = [{**value, "at": value["x"] * apart ** (names.index(value["series"]) - middle)} for value in values]
    axis = {"values": ticks, "format": ","}
    x = {**_number("at", x_title), "axis": axis, "scale": {"type": "log", "nice": False, "padding": 20}}
    legend = {"symbolOpacity": 1}  # also of those whose lines are paler
    series = {"field": "series", "type": "nominal", "sort": names, "title": None, "legend": legend}
    colour = {**series, "scale": {"domain": names, "range": COLOURS[: len(names)]}}
    shape = {**series, "scale": {"domain": names, "range": _SHAPES[: len(names)]}}
    told = (("mean", y_title), ("low", "from"), ("high", "to"))
    interval = [{"field": name, "type": "quantitative", "title": title, "format": ".3f"} for name, title in told]
    tooltip = [{"field": "series"}, {"field": "x", "title": x_title}, *interval]
    mean = {"x": x, "y": _number("mean", y_title), "color": colour}
    layers = [
        {"mark": {"type": "rule", "opacity": 0.5}, "encoding": {**mean, "y": _number("low", y_title), "y2": _HIGH_END}},
        {"mark": {"type": "line", "strokeWidth": 1.5}, "encoding": mean},
        {"mark": _POINT, "encoding": {**mean, "shape": shape, "tooltip": tooltip}},
    ]
    return _spec(placed, description, width=_WIDE, height=_HIGH, layer=layers)


def heat_map(values: Values, x_title: str, y_title: str, description: str) -> dict[str, Any]:
    """Return fields of two axes, the darker the greater, with their numbers.

    Args:
        values: `x`, `y` and `mean`, in the order of the axes.
        x_title: As in `curves`, and the others.
        y_title: As in `curves`.
        description: As in `curves`.
    """
    x, y = ([*dict.fromkeys(value[axis] for value in values)] for axis in ("x", "y"))
    means = [value["mean"] for value in values]
    dark = min(means) + (max(means) - min(means)) * 0.7  # beyond it, white is easier to read than black
    step = min(max(90, *(8 * len(name) for name in x)), 240)
    below = {"labelAngle": 0, "labelLimit": step}
    place = {
        "x": {"field": "x", "type": "nominal", "sort": x, "title": x_title, "axis": below},
        "y": {"field": "y", "type": "nominal", "sort": y, "title": y_title, "axis": {"labelLimit": 220}},
    }
    colour = {**_number("mean", ""), "legend": None, "scale": {"scheme": "blues", "domain": [min(means), max(means)]}}
    ink = {"condition": {"test": f"datum.mean > {dark}", "value": "white"}, "value": "black"}
    text = {"field": "mean", "format": ".3f"}
    layers = [
        {"mark": "rect", "encoding": {**place, "color": colour}},
        {"mark": {"type": "text", "fontSize": 12}, "encoding": {**place, "text": text, "color": ink}},
    ]
    return _spec(values, description, width={"step": step}, height={"step": 34}, layer=layers)


def front(values: Values, x_title: str, y_title: str, description: str) -> dict[str, Any]:
    """Return points with a label each, those of the front as squares that are joined by a line.

    Args:
        values: `name`, `label`, `x`, `mean`, `is_front`.
        x_title: As in `curves`, and the others.
        y_title: As in `curves`.
        description: As in `curves`.
    """
    widest = {"domain": [0, 1.1 * max(value["x"] for value in values)], "nice": False}
    x = {**_number("x", x_title), "scale": widest, "axis": {"tickCount": 8}}
    place: dict[str, Any] = {"x": x, "y": {**_number("mean", y_title), "scale": {"zero": False, "padding": 15}}}
    kinds = {"domain": [True, False]}
    look = {
        "color": {"field": "is_front", "type": "nominal", "legend": None, "scale": {**kinds, "range": COLOURS[1::-1]}},
        "shape": {"field": "is_front", "type": "nominal", "legend": None, "scale": {**kinds, "range": _SHAPES[1::-1]}},
    }
    tooltip = [{"field": "name"}, {"field": "x", "title": x_title}, {"field": "mean", "title": y_title}]
    dashed = {"type": "line", "color": COLOURS[1], "strokeDash": [4, 3], "opacity": 0.6}
    named = {"type": "text", "align": "left", "dx": 8, "dy": 12, "fontSize": 11, "color": _INK}
    layers: list[dict[str, Any]] = [
        {"transform": [{"filter": "datum.is_front"}], "mark": dashed, "encoding": {**place, "order": {"field": "x"}}},
        {"mark": _POINT, "encoding": {**place, **look, "tooltip": tooltip}},
        {"mark": named, "encoding": {**place, "text": {"field": "label"}}},
    ]
    return _spec(values, description, width=_WIDE, height=_HIGH, layer=layers)


def _spec(values: Values, description: str, **rest: Any) -> dict[str, Any]:
    schema = {"$schema": "https://vega.github.io/schema/vega-lite/v6.json", "description": description}
    return {**schema, "data": {"values": [dict(value) for value in values]}, **rest, "config": dict(_CONFIG)}


def _number(name: str, title: str) -> dict[str, Any]:
    return {"field": name, "type": "quantitative", "title": title, "scale": {"zero": False}}
