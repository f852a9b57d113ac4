"""Charts are data: what draws them draws them, a page has the numbers behind them, and no text of theirs is markup."""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework.analysis import Leaderboard
from rag_evaluation_framework.base import optional
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.errors import ConfigError, MissingDependency
from rag_evaluation_framework.report import Page, Table, whole_file
from rag_evaluation_framework.report.blocks import Chart
from rag_evaluation_framework.report.charts import curves, front, heat_map
from rag_evaluation_framework.sweeps.cell import Cell, CellFacts, CellOutcome
from rag_evaluation_framework.sweeps.result import SweepResult
from support import browser
from support.pages import blocks, lines, table, titles

pytest.importorskip("vl_convert")

NASTY = "</text></svg><script>document.title = 'taken'</script><img src='http://127.0.0.1:9/taken' onerror='x()'>"
NAMES = (NASTY, "signal('width') + datum.mean", "b & \"c\" 'd'", "\x1b[31m red \u202e \ud800 \x00")
VALUES = {
    "curves": [
        {"series": name, "x": x, "mean": 0.2 + at / 10 + x / 9000, "low": 0.1, "high": None}
        for at, name in enumerate(NAMES)
        for x in (1000, 2000, 4000)
    ],
    "heat_map": [{"x": x, "y": y, "mean": len(x) / len(y)} for x in NAMES for y in NAMES[:2]],
    "front": [
        {"name": name, "label": name, "x": at, "mean": at / 4, "low": None, "high": 1.0, "is_front": at > 1}
        for at, name in enumerate(NAMES)
    ],
}
SPECS = {
    "curves": curves(VALUES["curves"], NASTY, NASTY, NASTY),
    "heat_map": heat_map(VALUES["heat_map"], NASTY, NASTY, NASTY),
    "front": front(VALUES["front"], NASTY, NASTY, NASTY),
}


def chart(kind):
    return Chart(SPECS[kind], Table(("name", "mean"), tuple((name, "0.5") for name in NAMES), f"A chart {NASTY}"))


def without_plots(monkeypatch):
    installed = optional._installed
    monkeypatch.setattr(optional, "_installed", lambda module: module != "vl_convert" and installed(module))
    monkeypatch.setattr(optional, "import_module", lambda module: exec(f"raise ImportError('no {module}')"))


@pytest.mark.parametrize("kind", SPECS)
def test_a_specification_is_plain_json_that_is_drawn_with_its_texts_as_texts(kind):
    spec = chart(kind).spec
    assert json.loads(json.dumps(spec)) == spec
    assert spec["$schema"] == "https://vega.github.io/schema/vega-lite/v6.json"
    drawn = chart(kind).svg()
    root = ET.fromstring(drawn)
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags <= {"svg", "g", "path", "text", "line", "rect", "title"}
    attributes = {name for element in root.iter() for name in element.attrib}
    assert not {name for name in attributes if name.startswith("on") or name == "style" or name.endswith("href")}
    assert "taken" in drawn
    assert kind == "heat_map" or 'fill="white"' not in drawn


def test_every_point_has_a_description_and_its_shape_and_a_picture_is_saved_as_its_name_ends(tmp_path):
    drawn = chart("curves").svg()
    assert drawn.count('aria-roledescription="point"') == 12
    assert len(set(re.findall(r'<path aria-label[^>]*role-?description="point" d="([^"]*)"', drawn))) in (0, 4)
    paths = re.findall(r'aria-roledescription="point"[^>]* d="([^"]*)"', drawn)
    assert len(set(paths)) == 4
    assert chart("front").save(tmp_path / "x.svg").read_text(encoding="utf-8").startswith("<svg ")
    assert chart("front").save(str(tmp_path / "x.png")).read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ConfigError, match=r"expected a name that ends in \.svg or \.png"):
        chart("front").save(tmp_path / "x.pdf")


def test_without_the_extra_the_table_is_shown_and_the_extra_is_named(monkeypatch, tmp_path):
    without_plots(monkeypatch)
    text = whole_file(Page("p", (chart("front"),)))
    assert "<svg" not in text
    assert "pip install &#x27;rag-evaluation-framework[plots]&#x27;" in text
    assert text.count("<tr>") == 5
    with pytest.raises(MissingDependency, match=r"rag-evaluation-framework\[plots\]"):
        chart("front").save(tmp_path / "x.svg")
    assert [*chart("front")._repr_mimebundle_()] == ["application/vnd.vegalite.v6+json", "text/plain"]


def test_a_notebook_gets_the_specification_the_picture_and_the_table_which_texts_show():
    bundle = chart("heat_map")._repr_mimebundle_(include=None, exclude=None)
    assert bundle["application/vnd.vegalite.v6+json"] == chart("heat_map").spec
    assert bundle["image/svg+xml"].startswith("<svg ")
    assert "name" in bundle["text/plain"]
    assert "\x1b" not in bundle["text/plain"]
    page = Page("p", (chart("curves"),))
    for text in (page.as_text(80), page.as_markdown()):
        assert "A chart" in text
        assert "mean" in text
        assert "vega" not in text


# Leaderboards


@pytest.fixture(scope="module")
def board():
    runs = [
        rag.evaluate(
            rag.BM25Retriever(rag.RecursiveCharacterChunker(size)),
            load_handbook(),
            k=5,
            budgets=["1000ch", "4000ch"],
            experiment_name=f"chunks of {size}",
        )
        for size in (200, 400, 800)
    ]
    return Leaderboard.of(runs)


def test_a_leaderboard_is_drawn_by_budget_or_by_one_score_and_its_dataframe_has_what_its_record_has(board):
    drawn = board.plot()
    assert drawn.title == "span_recall by budget"
    assert {value["series"] for value in drawn.spec["data"]["values"]} == set(board.runs)
    assert {value["x"] for value in drawn.spec["data"]["values"]} == {1000, 4000}
    one = board.plot("span_iou@5")
    first = board.standings("span_iou@5")[0]
    assert one.spec["data"]["values"][0]["series"] == first.run
    assert one.spec["data"]["values"][0]["mean"] == pytest.approx(first.mean)
    assert one.spec["data"]["values"][0]["low"] < first.mean
    assert [row[0][2:] for row in one.table.rows] == [standing.run for standing in board.standings("span_iou@5")]
    for made in (drawn, one):
        assert made.svg().startswith("<svg ")
    with pytest.raises(ConfigError, match="no score"):
        board.plot("recall@7")
    pytest.importorskip("pandas")
    frame = board.to_dataframe()
    assert len(frame) == len(board.runs) * len(board.score_names)
    assert [*frame] == ["score", "run", "mean", "delta", "low", "high", "p_value", "tied_with_best"]
    known = board.record()["scores"]
    for _, row in frame.iterrows():
        one = known[row["score"]]["runs"][row["run"]]
        assert (row["mean"], row["tied_with_best"]) == (one["mean"], one["tied_with_best"])
        if one["test"] is None:
            assert np.isnan(row["delta"])
        else:
            assert (row["delta"], row["p_value"]) == (one["delta"], one["test"]["p_value"])


# Sweeps


def hostile(page_of=lambda result: result):
    """A sweep whose names, notes and failures are markup."""
    dataset = load_handbook()
    made = []
    for number, (size, kind) in enumerate([(200, "a"), (200, NASTY), (800, "a"), (800, NASTY)], 1):
        levels, values = {"chunk_size": str(size), "kind": kind}, {"chunk_size": size, "kind": kind}
        cell = Cell(number, f"chunk_size={size}, kind={kind}", levels, values, None)
        if number == 4:
            made.append(CellOutcome(cell, failure=f"RuntimeError: {NASTY}"))
            continue
        retriever = rag.BM25Retriever(rag.RecursiveCharacterChunker(size))
        facts = CellFacts.of(rag.evaluate(retriever, dataset, k=[5, 10], budgets=["1000ch", "4000ch"]))
        made.append(CellOutcome(cell, facts=replace(facts, notes=(*facts.notes, NASTY))))
    return SweepResult(tuple(made), bill={"cells": 4, "cost": None})


@pytest.fixture(scope="module")
def swept():
    return hostile()


def test_the_page_of_a_sweep_says_what_to_take_and_shows_what_it_stands_on(swept):
    page = swept.summary()
    told = titles(page)
    order = [
        *("Notes", "Cells by span_recall@4000ch", "span_recall at each cutoff"),
        *("What each axis changes in span_recall@4000ch", "span_recall@4000ch by chunk_size and kind"),
        *(
            "span_recall@4000ch against median milliseconds per question",
            "Failed cells",
            "Plan and bill",
            "Notes of the cells",
            "Facts",
        ),
    ]
    assert told == order
    assert lines(page)[0].startswith("Take chunk_size=")
    cells = table(page, "Cells by")
    assert cells.header == ("cell", "mean", "tied", "place @5", "median ms", "index kB")
    assert [row[2] for row in cells.rows] == ["best", "yes", "yes"]
    assert "! 1 of 4 cells failed" in lines(page, "Notes")
    assert lines(page, "Failed cells")[0].startswith("chunk_size=800")
    assert table(page, "Plan and bill").rows == (("cells", "–", "4"), ("cost", "–", "unknown"))
    assert any("each: " in text for text in lines(page, "Notes of the cells"))
    charts = [block for block in blocks(page) if isinstance(block, Chart)]
    assert len(charts) == 3
    assert repr(swept) == page.as_text()
    assert swept._repr_html_() == page.as_html()


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_page_of_a_sweep_fits_its_terminal(swept, width):
    text = swept.summary().as_text(width)
    assert max(map(len, text.splitlines())) <= width
    assert "<script" in text  # as it is written
    if width >= 80:
        assert text.count("median ms") >= 2
    markdown = swept.summary().as_markdown()
    assert "<script" not in markdown.replace("\\<", "")


def test_tables_of_a_sweep_are_asked_for_by_metric_and_charts_by_kind(swept):
    (made,) = swept.table("span_iou").blocks
    assert made.header == ("cell", "@5", "@10", "@1000ch", "@4000ch")
    assert [row[0][:1] for row in made.rows] == ["1", "2", "3"]
    assert swept.table().title == "3 cells by span_recall"
    with pytest.raises(ConfigError, match="no score 'mrr'"):
        swept.table("mrr")

    assert swept.plot().title == "span_recall at each cutoff"
    assert {value["x"] for value in swept.plot(score="span_recall@5").spec["data"]["values"]} == {1000, 4000}
    fields = swept.plot("heatmap").spec["data"]["values"]
    assert len(fields) == 3
    assert swept.plot("heatmap").table.rows[1][2] == "–"
    points = swept.plot("pareto").spec["data"]["values"]
    assert [point["is_front"] for point in points].count(True) == len(swept.pareto(["latency"]))
    with pytest.raises(ConfigError, match="expected one of 'cutoffs', 'heatmap', 'pareto'"):
        swept.plot("pie")
    alone = SweepResult(swept.cells[:1])
    for kind, why in (("heatmap", "fewer than two axes"), ("pareto", "no cost is known for all cells that differs")):
        with pytest.raises(ConfigError, match=why):
            alone.plot(kind)
    assert "There is no other cell to compare it with." in alone.summary().as_text()


@pytest.mark.slow
@pytest.mark.skipif(browser.CHROMIUM is None, reason="no Chromium: apt-get install chromium")
def test_in_a_browser_a_sweep_is_drawn_and_nothing_is_asked_for(swept, tmp_path):
    file = tmp_path / "sweep.html"
    file.write_text(whole_file(swept.summary()), encoding="utf-8")
    found = browser.opened(file, tmp_path)
    assert found.asked == []
    assert found.complaints == []
    assert "<title>Sweep of 4 cells over chunk_size, kind</title>" in found.dom
    assert found.dom.count("<figure") == found.dom.count('class="marks"') == 3
    assert found.dom.count("As a table") == 3
