"""Pages as HTML: a fragment for a notebook, or one file that loads nothing, runs nothing and sends nothing."""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from html import escape
from math import isfinite
from pathlib import Path

from ..base.optional import install_command, missing_extras
from .blocks import Bar, Chart, Line, Lines, Page, Part, Passage, Passages, Table, is_shown, pieces

# By default nothing is allowed, so no script is.
_POLICY = "default-src 'none'; style-src 'sha256-{style}'; img-src data:; base-uri 'none'; form-action 'none'"
_WIDE, _HIGH, _POINT = 200, 14, 4  # of a drawn number
_DEEPEST = 6
_LONGEST = 24  # characters of a name in a heading that is not broken


def rendered(page: Page) -> str:
    """Return a page as a fragment of HTML, which brings its own style."""
    return f'<div class="rag-eval"><style>{_style("page.css")}</style>{"".join(_page(page, 1))}</div>'


def whole_file(page: Page) -> str:
    """Return a page as a file of HTML, whose policy has browsers load nothing and run nothing."""
    style = _style("page.css") + _style("file.css")
    policy = _POLICY.format(style=b64encode(sha256(style.encode()).digest()).decode())
    head = (
        '<meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer"><link rel="icon" href="data:,">'
        f"<title>{escape(page.title)}</title><style>{style}</style>"
    )
    body = "\n".join(_page(page, 1))
    main = f'<body><main class="rag-eval">\n{body}\n</main></body>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n{main}</html>\n'


@cache
def _style(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _page(page: Page, depth: int) -> Iterator[str]:
    aside = f'<span class="aside">{escape(page.aside)}</span>' if page.aside else ""
    title = _heading(page.title, depth, aside)
    anchor = f' id="{escape(page.anchor)}"' if page.anchor else ""
    if page.folded:
        # what a link leads to is opened if it is inside
        yield f"<details><summary>{title}</summary><div{anchor}>"
    else:
        yield f"<section{anchor}>{title}" if anchor else title
    for block in filter(is_shown, page.blocks):
        if isinstance(block, Page):
            yield from _page(block, depth + 1)
        else:
            yield f"{_heading(block.title, depth + 1) if block.title else ''}{''.join(_block(block))}"
    yield "</div></details>" if page.folded else "</section>" if anchor else ""


def _heading(text: str, depth: int, aside: str = "") -> str:
    level = min(depth, _DEEPEST)
    return f"<h{level}>{' '.join(map(_breakable, text.split(' ')))}{aside}</h{level}>"


def _breakable(name: str, longest: int = _LONGEST) -> str:
    """Return a name that, if it is long, may be broken: browsers would also break one that fits on the next line."""
    return "<wbr>".join(map(escape, pieces(name))) if len(name) > longest else escape(name)


def _block(block: Lines | Table | Passages | Chart) -> Iterator[str]:
    if isinstance(block, Chart):
        yield from _chart(block)
    elif isinstance(block, Table):
        yield from (f'<p class="muted">{escape(told)}</p>' for told in block.lines)
        yield _table(block)
    elif isinstance(block, Passages):
        yield from map(_passage, block.passages)
    elif block.title or any(line.indent for line in block.lines):
        yield f"<ul>{''.join(map(_item, block.lines))}</ul>"
    else:
        yield from map(_paragraph, block.lines)


def _chart(chart: Chart) -> Iterator[str]:
    """Yield a picture with its table behind it, or the table alone if nothing is installed that draws."""
    if missing := missing_extras({"vl_convert": "plots"}):
        yield from _block(chart.table)
        yield f'<p class="muted">{escape(f"This table is drawn as a picture after {install_command(*missing)}")}</p>'
        return
    told = escape(chart.spec["description"])
    caption = f'<figcaption class="muted">{told}</figcaption>'
    yield f'<figure class="chart" aria-label="{told}">{caption}{chart.svg()}</figure>'
    yield f"<details><summary><span>As a table</span></summary><div>{''.join(_block(chart.table))}</div></details>"


def _paragraph(line: Line) -> str:
    roles = {part.role for part in line.parts}
    if len(roles) == 1 and (role := roles.pop()):
        return f'<p class="{role}">{"".join(escape(part.text) for part in line.parts)}</p>'
    return f"<p>{_parts(line.parts)}</p>"


def _item(line: Line) -> str:
    before = line.before.strip()
    named = f'<span class="b {line.role}">{escape(before)}</span>' if before else ""
    inner = ' class="in"' if line.indent >= 4 and not before else ""
    return f"<li{inner}>{named}<span>{_parts(line.parts)}</span></li>"


def _parts(parts: Iterable[Part]) -> str:
    return "".join(map(_part, parts))


def _part(part: Part) -> str:
    text = escape(part.text)
    if part.role in ("found", "missed"):
        text = f'<mark class="{part.role}">{text}</mark>'
    elif part.role:
        text = f'<span class="{part.role}">{text}</span>'
    return f'<a href="#{escape(part.link)}">{text}</a>' if part.link else text


def _passage(passage: Passage) -> str:
    label = f'<span class="label">{escape(passage.label)}</span> ' if passage.label else ""
    note = f' <span class="muted">{escape(passage.note)}</span>' if passage.note else ""
    where = f'<p>{label}<span class="place">{escape(passage.where)}</span>{note}</p>'
    text = f"<pre>{_parts(passage.parts)}</pre>" if passage.parts else ""
    return f'<div class="passage">{where}{text}</div>'


def _table(table: Table) -> str:
    has_bars = any(table.bars)
    rows = [[_cell(table, at, name, "col") for at, name in enumerate(table.header)]]
    for number, row in enumerate(table.rows):
        roles = [table.roles.get((number, at), "") for at in range(len(row))]
        rows.append([_cell(table, at, cell, "" if at else "row", roles[at]) for at, cell in enumerate(row)])
    if has_bars:
        least, greatest = table.scale
        ends = [least, 0.0, greatest] if least < 0 < greatest else [least, greatest]
        axis = "".join(f"<span>{end:.3g}</span>" for end in ends)
        rows[0].append(f'<th scope="col" class="d"><span>{axis}</span></th>')
        for cells, bar in zip(rows[1:], table.bars, strict=True):
            cells.append(f'<td class="d">{_svg(bar, table.scale)}</td>')
    head, *body = (f"<tr>{''.join(cells)}</tr>" for cells in rows)
    whole = f"<thead>{head}</thead><tbody>{''.join(body)}</tbody>"
    return f'<div class="wide{" drawn" * has_bars}"><table>{whole}</table></div>'


def _cell(table: Table, at: int, told: str, scope: str, role: str = "") -> str:
    """Return a cell, or the head of a row or column; words are told apart from numbers."""
    text = _breakable(told, 0) if at < table.words or scope == "col" else escape(told)
    tag, scoped = ("th", f' scope="{scope}"') if scope else ("td", "")
    names = " ".join(filter(None, ("w" if at < table.words else "", role)))
    kind = f' class="{names}"' if names else ""
    return f"<{tag}{scoped}{kind}>{text}</{tag}>"


def _svg(bar: Bar | None, scale: tuple[float, float]) -> str:
    """Return a number as a point and its interval as a line with an end on either side, which is open if not known."""
    if bar is None or not isfinite(bar.value):
        return ""
    least, greatest = scale

    def at(value: float) -> str:
        return f"{_WIDE * (min(max(value, least), greatest) - least) / (greatest - least):.1f}"

    middle, label = _HIGH / 2, f"{bar.value:.3f}"
    lines = [f'<line class="t" x1="0" x2="{_WIDE}" y1="{middle}" y2="{middle}"/>']
    if least < 0 < greatest:
        lines.append(f'<line class="z" x1="{at(0.0)}" x2="{at(0.0)}" y1="0" y2="{_HIGH}"/>')
    if bar.ends is None:
        lines.append(f'<line class="s" x1="{at(0.0)}" x2="{at(bar.value)}" y1="{middle}" y2="{middle}"/>')
    else:
        low, high = map(at, bar.ends)
        lines.append(f'<line class="i" x1="{low}" x2="{high}" y1="{middle}" y2="{middle}"/>')
        ends = map(at, filter(isfinite, bar.ends))
        lines += (f'<line class="i" x1="{end}" x2="{end}" y1="{middle - 4}" y2="{middle + 4}"/>' for end in ends)
        lines.append(f'<circle class="p" cx="{at(bar.value)}" cy="{middle}" r="{_POINT}"/>')
        label += f", interval {' to '.join(f'{end:.3f}' if isfinite(end) else 'unknown' for end in bar.ends)}"
    return f'<svg viewBox="0 0 {_WIDE} {_HIGH}" role="img" aria-label="{label}">{"".join(lines)}</svg>'
