"""Tables of pages as LaTeX."""

from rag_evaluation_framework.report.blocks import Chart, Lines, Page, Table, line

TABLE = Table(("run", "mean"), (("a_b & 50 %", "0.5"), ("\\x^{2}~#$", "–")), "Scores of {mine}", ("in all",))


def test_a_page_is_its_tables_those_of_pages_inside_and_of_charts_included_or_nothing():
    page = Page("My runs", (Lines((line("not a table"),)), TABLE, Page("inside", (Chart({}, TABLE),))))
    text = page.as_latex()
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 2
    assert "not a table" not in text
    assert text.startswith(
        "\\begin{table}\n\\centering\n\\caption{My runs. Scores of \\{mine\\}. in all}\n\\begin{tabular}{lr}\n"
        "\\toprule\nrun & mean \\\\\n\\midrule\n"
    )
    assert Page("", (Lines((line("words"),)),)).as_latex() == ""


def test_what_comes_from_outside_is_escaped_and_no_row_is_one_of_the_row_before():
    lines = Page("", (TABLE, Table(("a", "b"), (("[2] what", "*"), ("* y", "1"))))).as_latex().splitlines()
    assert [line for line in lines if " & " in line] == [
        r"run & mean \\",
        r"a\_b \& 50 \% & 0.5 \\",
        r"\textbackslash{}x\textasciicircum{}\{2\}\textasciitilde{}\#\$ & – \\",
        r"a & b \\",
        r"{}[2] what & * \\",
        r"{}* y & 1 \\",
    ]
