"""Blocks of pages, and `Page`: what people read, as a title and blocks, whatever shows it.

Pages are made of facts in `report/pages/`, and shown by three renderers: `terminal.py`, `markdown.py` and `html.py`. No
page knows of colours, tags or widths. Blocks make their texts fit to be shown when they are made, as any of them may
come from outside, so that renderers escape only what their own notation makes something of.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ..base.files import is_list, is_object
from ..base.optional import missing_extras, require
from ..base.outside import cut_short, fit_to_keep, harmless, name_line, one_line, shown
from ..contracts.registry.loading import load_installed
from ..errors import ConfigError

Role = Literal["", "verdict", "good", "bad", "warning", "muted", "label", "place", "found", "missed", "read", "word"]
"""Kinds of parts of a line: the answer of a page, better or worse than wished, beside the point, the name of a thing,
where it is; of documents, relevant text that was read or missed, other text that was read, a word of the question."""

MARKED: Mapping[Role, tuple[str, str]] = {"found": ("»", "«"), "missed": ("»", "«"), "read": ("", "")}
"""Signs around text of documents where nothing else marks it."""

_BETWEEN = re.compile(r"(?<=[-_/(=])(?=\w)|(?<=\w)(?=@)")
_LINE, _SHORT = 1000, 160
_AROUND, _LONGEST = 60, 800  # characters of a passage before and behind what is marked, and of what is marked
_TERMINAL = "rag_evaluation_framework.report.terminal:rendered"  # loaded when something is shown in this way
_MARKDOWN = "rag_evaluation_framework.report.markdown:rendered"
_HTML = "rag_evaluation_framework.report.html:rendered"
_LATEX = "rag_evaluation_framework.report.latex:rendered"


def _fitted(block: object, **texts: Any) -> None:
    """Set texts of a block, made fit to be shown."""
    for name, text in texts.items():
        object.__setattr__(block, name, text)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a line, or of a passage.

    Attributes:
        text: What it says.
        role: What it is.
        link: The anchor of a page that it leads to, where there are links.
    """

    text: str
    role: Role = ""
    link: str = ""


Given: TypeAlias = str | Part | tuple[str, Role]


@dataclass(frozen=True)
class Line:
    """A line, however long: its texts are made fit to be shown, and have no line ends.

    Attributes:
        parts: What it says.
        indent: How far it is moved in, in characters.
        before: What stands before it, in the space that it is moved in.
        role: The role of that.
    """

    parts: tuple[Part, ...]
    indent: int = 0
    before: str = ""
    role: Role = ""

    def __post_init__(self) -> None:
        parts = (Part(_flat(part.text), part.role, part.link) for part in self.parts)
        before = name_line(self.before) if self.before.strip() else self.before
        _fitted(self, parts=tuple(part for part in parts if part.text), before=before)

    @property
    def text(self) -> str:
        """The text."""
        return "".join(part.text for part in self.parts)


def line(*given: Given, indent: int = 0, before: str = "", role: Role = "") -> Line:
    """Return a line of parts, each a text, or a text and its role."""
    parts = (part if isinstance(part, Part) else Part(part) if isinstance(part, str) else Part(*part) for part in given)
    return Line(tuple(parts), indent, before, role)


@dataclass(frozen=True)
class Lines:
    """Lines below each other.

    Attributes:
        lines: The lines; a block without any is not shown.
        title: Their heading; without one they are paragraphs.
    """

    lines: tuple[Line, ...]
    title: str = ""

    def __post_init__(self) -> None:
        _fitted(self, title=_told(self.title))


@dataclass(frozen=True, slots=True)
class Bar:
    """A number with its interval, or a share without one, to be drawn.

    Attributes:
        value: The number.
        ends: The ends of its interval, not finite where they are not known; None of a share, drawn as a bar from 0.
    """

    value: float
    ends: tuple[float, float] | None = None


@dataclass(frozen=True)
class Table:
    """A table: its texts are made fit to be shown, each on one line.

    Attributes:
        header: What a row is, then the columns.
        rows: One row per line of the table.
        title: Its heading.
        lines: Lines below the heading.
        words: How many of the columns, from the left, are words; the others are numbers.
        bars: What is drawn behind each row, of one scale; nothing if it is empty.
        scale: The least and the greatest value of the bars.
        roles: The roles of cells, by row and column.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    lines: tuple[str, ...] = ()
    words: int = 1
    bars: tuple[Bar | None, ...] = ()
    scale: tuple[float, float] = (0.0, 1.0)
    roles: Mapping[tuple[int, int], Role] = field(default_factory=dict[tuple[int, int], Role])

    def __post_init__(self) -> None:
        rows = ((*map(_told, row[: self.words]), *map(name_line, row[self.words :])) for row in self.rows)
        lines, header = tuple(map(_told, self.lines)), tuple(map(name_line, self.header))
        _fitted(self, title=_told(self.title), lines=lines, header=header, rows=tuple(rows))


@dataclass(frozen=True)
class Passage:
    """Text of a document with its line ends, escaped and otherwise unchanged.

    Attributes:
        parts: The text, in parts of one role each.
        where: Where it is.
        label: What it is there for, such as its rank.
        note: What else is to be known of it.
    """

    parts: tuple[Part, ...]
    where: str = ""
    label: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        texts = (re.sub("\r\n?", "\n", part.text).replace("\t", "    ") for part in self.parts)
        parts = tuple(Part(harmless(text), part.role) for text, part in zip(texts, self.parts, strict=True) if text)
        _fitted(self, parts=parts, where=_told(self.where), label=_told(self.label), note=_told(self.note))


@dataclass(frozen=True)
class Passages:
    """Passages below each other.

    Attributes:
        passages: The passages; a block without any is not shown.
        title: Their heading.
        around: How many lines around relevant text a terminal shows, in the lines of the document, or all of a passage
            that has none; by default it shows each passage on one line, and of long text what is next to relevant text.
        rows: How many lines a terminal shows of a passage, in place of `around`: those around relevant text that fit.
    """

    passages: tuple[Passage, ...]
    title: str = ""
    around: int | None = None
    rows: int | None = None

    def __post_init__(self) -> None:
        _fitted(self, title=_told(self.title))


@dataclass(frozen=True)
class Chart:
    """A picture as data: a notebook and a file of HTML draw it, elsewhere its table stands for it.

    Attributes:
        spec: A specification of Vega-Lite 6, with its data.
        table: The same numbers, under the title of the chart.
    """

    spec: Mapping[str, Any]
    table: "Table"

    def __post_init__(self) -> None:
        _fitted(self, spec=_fit(self.spec))

    @property
    def title(self) -> str:
        """The title of its table."""
        return self.table.title

    def svg(self) -> str:
        """Return the picture as SVG without a background, which loads and runs nothing.

        Raises:
            MissingDependency: The extra `plots` is not installed.
        """
        text: str = self._convert("svg", config={"background": None})
        return text

    def save(self, path: str | Path) -> Path:
        """Write the picture as SVG or PNG, as the end of the name says, and return the path.

        Raises:
            ConfigError: The name ends otherwise.
            MissingDependency: The extra `plots` is not installed.
        """
        file = Path(path)
        if file.suffix not in (".svg", ".png"):
            raise ConfigError(f"Chart.save({shown(str(path))}): expected a name that ends in .svg or .png")
        drawn = self._convert(file.suffix[1:], **({"scale": 2} if file.suffix == ".png" else {}))
        file.write_bytes(drawn.encode() if isinstance(drawn, str) else drawn)
        return file

    def _convert(self, form: str, **options: Any) -> Any:
        converter = require("vl_convert", extra="plots", needed_by="a chart as a picture")
        return getattr(converter, f"vegalite_to_{form}")(self.spec, vl_version="6.4", allowed_base_urls=[], **options)

    def __str__(self) -> str:
        return Page("", (self.table,)).as_text()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """Return the specification, and what a front end shows that cannot draw it: the picture, or the table."""
        known = {} if missing_extras({"vl_convert": "plots"}) else {"image/svg+xml": self.svg()}
        return {"application/vnd.vegalite.v6+json": dict(self.spec), **known, "text/plain": str(self)}


Block: TypeAlias = "Lines | Table | Passages | Chart | Page"


@dataclass(frozen=True)
class Page:
    """A title and blocks, of which some may be pages themselves. Printed, it is shown as a terminal shows it.

    Attributes:
        title: Its title.
        blocks: The blocks, the verdict first.
        anchor: By what links lead to it, where it is part of another page.
        aside: What stands behind its title, less prominent.
        folded: Whether it is opened on demand, where that can be done.
    """

    title: str
    blocks: tuple[Block, ...]
    anchor: str = ""
    aside: str = ""
    folded: bool = False

    def __post_init__(self) -> None:
        _fitted(self, title=_told(self.title), aside=_told(self.aside))

    @classmethod
    def of(cls, title: str, *blocks: Block) -> "Page":
        """Return a page of these blocks, which is no part of another one."""
        return cls(title, blocks)

    def as_text(self, width: int | None = None) -> str:
        """Return the page as a terminal shows it, without colours.

        Args:
            width: How wide it is, at least 60 characters; by default as wide as the terminal or, without one, 100.
        """
        return _rendered(_TERMINAL, self, width)

    def as_markdown(self, depth: int = 1) -> str:
        """Return the page as Markdown.

        Args:
            depth: The level of the heading that its title is.
        """
        return _rendered(_MARKDOWN, self, depth)

    def as_latex(self) -> str:
        r"""Return the tables of the page as LaTeX, each a `table` with its heading as the caption.

        The preamble needs `\usepackage{booktabs}`.
        """
        return _rendered(_LATEX, self)

    def as_html(self) -> str:
        """Return the page as a fragment of HTML, for a notebook; everything that comes from outside is escaped."""
        return _rendered(_HTML, self)

    def __str__(self) -> str:
        return self.as_text()

    def _repr_html_(self) -> str:
        return self.as_html()


def _rendered(how: str, page: Page, *arguments: Any) -> str:
    text: str = load_installed(how)(page, *arguments)
    return text


def is_shown(block: Block) -> bool:
    """Return whether there is something in a block."""
    return bool(block.lines if isinstance(block, Lines) else not isinstance(block, Passages) or block.passages)


def pieces(name: str) -> list[str]:
    """Return the parts of a long name, such as `span_recall@5` or the path of a file, between which a line may end."""
    return _BETWEEN.split(name)


def quoted(text: str) -> str:
    """Return a text in quotation marks, on one line; of a long one the first 160 characters."""
    return f"“{short(text)}”"


def short(text: str) -> str:
    """Return a text on one line; of a long one the first 160 characters."""
    return cut_short(one_line(text), _SHORT)


def muted(texts: Iterable[str], title: str = "", indent: int = 2) -> Lines:
    """Return texts that are beside the point, one per line."""
    return Lines(tuple(line((text, "muted"), indent=indent) for text in texts), title)


def excerpt(content: str, start: int, end: int, around: int, marked: Iterable[Part]) -> tuple[Part, ...]:
    """Return what is marked of a document with so many characters on either side, from and to whole words."""
    before, behind = content[max(start - around, 0) : start], content[end : end + around]
    if start > around:
        before = f"… {before.partition(' ')[2] or before}"  # of a script without blanks, all of it
    if end + around < len(content):
        behind = f"{behind.rpartition(' ')[0] or behind} …"
    return Part(before, "muted"), *marked, Part(behind, "muted")


def plural(count: int, noun: str, more: str = "s") -> str:
    """Return a number with its noun: "1 question", "2,000 questions"."""
    return f"{count:,} {noun}{more * (count != 1)}"


def to_second(time: str) -> str:
    """Return a time, ISO 8601, without fractions of a second."""
    return re.sub(r"\.\d+", "", time)


def first(texts: Sequence[Line], most: int, what: str) -> tuple[Line, ...]:
    """Return the first of many lines, and the number of the others."""
    more = len(texts) - most
    rest = [line((f"{more:,} more {what}{'s' * (more > 1)}", "muted"), indent=2)] if more > 0 else []
    return (*texts[:most], *rest)


def best_cells(rows: Sequence[Sequence[float | None]]) -> dict[tuple[int, int], Role]:
    """Return where the greatest number of each column is, behind a column of words; a single row has none."""
    found: dict[tuple[int, int], Role] = {}
    for at, column in enumerate(zip(*rows, strict=True), 1):
        best = max((value for value in column if value is not None), default=None)
        found |= {(row, at): "good" for row, value in enumerate(column) if value is not None and value == best}
    return found if len(rows) > 1 else {}


def shortened(passage: Passage) -> tuple[Part, ...]:
    """Return the parts of a passage on one line: of long text beside what is marked, what is next to it."""
    last, parts = len(passage.parts) - 1, list[Part]()
    for number, part in enumerate(passage.parts):
        before, behind = number > 0 and part.text[0].isspace(), number < last and part.text[-1].isspace()
        text = f"{' ' * before}{' '.join(part.text.split())}{' ' * behind}"
        begin, end = (_AROUND * (number > 0), _AROUND * (number < last)) if last else (2 * _AROUND, 0)
        if part.role in ("found", "missed"):
            begin = end = _LONGEST // 2
        parts.append(Part(_cut(text, begin, end), part.role))
    return tuple(parts)


def _cut(text: str, begin: int, end: int) -> str:
    """Return so many characters of the begin of a text and of its end, in whole words if there are some."""
    if len(text) <= begin + end:
        return text
    head, tail = text[:begin], text[len(text) - end :]
    head, tail = head.rpartition(" ")[0] or head, tail.partition(" ")[2] or tail
    return f"{head}{' ' if head else ''}…{' ' if tail else ''}{tail}"


def _told(text: str) -> str:
    return one_line(fit_to_keep(text), _LINE)


def _fit(value: Any) -> Any:
    """Return a specification as plain JSON with its texts made fit: what draws dies of control characters."""
    if is_object(value):
        return {key: _fit(inner) for key, inner in value.items()}
    return _told(value) if isinstance(value, str) else [*map(_fit, value)] if is_list(value) else value


def _flat(text: str) -> str:
    """Return text fit to be shown on one line; of white space at its ends, a blank stays."""
    inner = _told(text)
    if not inner:
        return " " if text else ""
    return f"{' ' * text[:1].isspace()}{inner}{' ' * text[-1:].isspace()}"


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
