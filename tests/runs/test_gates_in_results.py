"""Gates in the files of a result, and in what people read."""

from dataclasses import replace
from xml.etree import ElementTree as ET

from rag_evaluation_framework import load_result
from rag_evaluation_framework.contracts import Outcome
from rag_evaluation_framework.report import gates_as_junit
from rag_evaluation_framework.report.pages.gates import counted
from rag_evaluation_framework.runs import GateVerdict
from support.gated_runs import run
from support.pages import lines

PASSED = GateVerdict("recall@1 >= 0.5", "--gate", "passed", "1.000, 8 questions", measured=1.0)
LOST = GateVerdict("lost@1 <= 0 questions", "", "failed", "1 lost: q1", measured=1.0, queries=("q1",))
OPEN = GateVerdict(
    "population(recall@1) >= 0.9",
    "gates of the configuration",
    "inconclusive",
    "1.000, interval 0.631 to 1.000, 8 questions",
    "power: not known",
    "fail",
    1.0,
    0.631,
    1.0,
)
UNKNOWN = GateVerdict("mrr@9 >= 0", "", "not measured", "there is no score <mrr@9>")
GATED = replace(run(lambda _: 1), gates=(PASSED, LOST, OPEN, UNKNOWN))


def test_gates_are_saved_and_read_back(tmp_path):
    assert load_result(GATED.save(tmp_path / "run")).gates == GATED.gates
    (tmp_path / "alone").mkdir()
    report = (tmp_path / "run/report.json").rename(tmp_path / "alone/report.json")
    assert load_result(report).gates == GATED.gates


def test_gates_are_counted_the_gravest_first_by_what_they_count_as():
    assert [verdict.counts_as for verdict in GATED.gates] == ["pass", "fail", "fail", "error"]
    assert replace(OPEN, on_inconclusive="pass").counts_as == "pass"
    assert counted(GATED.gates) == "4 gates: 1 not measured, 1 failed, 1 inconclusive (counts as failed), 1 passed"
    assert counted((PASSED,)) == "1 gate: 1 passed"
    assert counted(()) == ""


def test_people_see_the_power_before_the_verdict():
    page = GATED.summary()
    assert lines(page)[0] == "4 gates: 1 not measured, 1 failed, 1 inconclusive (counts as failed), 1 passed"
    told = lines(page, "Gates")
    at = told.index("population(recall@1) >= 0.9 (gates of the configuration)")
    assert told[at + 1] == "power: not known"
    assert told[at + 2].startswith("inconclusive (counts as failed): 1.000, interval")
    assert "there is no score \\<mrr@9\\>" in page.as_markdown()
    assert "there is no score &lt;mrr@9&gt;" in GATED._repr_html_()


def test_what_xml_cannot_hold_is_replaced_in_junit():
    hostile = replace(LOST, gate="lost <&\ud800", told="1 lost: \x01\ufffe\x1b[31m]]>\n\u202e")
    written = gates_as_junit(Outcome(replace(GATED, name="run \x0b", gates=(hostile,)), problems=("broken \x02",)))
    suite = ET.fromstring(written.encode()).find("testsuite")
    assert suite is not None
    cases = suite.findall("testcase")
    names = [suite.get("name", ""), *(case.get("name", "") for case in cases)]
    told = [case[0].get("message", "") for case in cases]
    assert names[2].startswith("lost <&")
    assert "]]>" in told[1]
    assert all(sign.isprintable() for text in (*names, *told) for sign in text)


def test_a_result_without_gates_does_not_speak_of_them():
    without = replace(GATED, gates=())
    for text in (without.summary().as_markdown(), repr(without), without._repr_html_()):
        assert "Gates" not in text


def test_texts_beside_a_result_are_saved_with_it(tmp_path):
    folder = GATED.save(tmp_path / "run", beside={"diff.md": "# diff\n"})
    assert (folder / "diff.md").read_text() == "# diff\n"
    assert (folder / "summary.md").read_text() == GATED.summary().as_markdown()
    folder = GATED.save(tmp_path / "another", beside={"summary.md": "# Mine\n"})
    assert (folder / "summary.md").read_text() == "# Mine\n"
