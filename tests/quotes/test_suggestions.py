import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.quotes.test_real_pages import KINDS, drawn, locator, once, places, rows

from rag_evaluation_framework import Corpus, Document, DocumentId, check_quotes
from rag_evaluation_framework.quotes.quote_locator import QuoteLocator
from rag_evaluation_framework.quotes.suggestions import suggest
from support.each import each
from support.nightly import first_of

GUIDE = """# Refunds

A refund takes **five** [working days](days.md) after we have received the parcel. It never takes more than 12 days.
Parcels above 30 kg cost $40 more, and those below -5 °C are not taken.

## Upgrades

Install the new agent first, and restart the server. Keep the data directory.
Then remove the old agent from every node of the cluster.

| size | price |
|------|-------|
| big  | 1.50  |
"""
OTHER = "The office opens at nine. Nobody answers the telephone before the first coffee of the day.\n"

PLANS = """# Plans

Run `cat x | grep y` first. Use left || right instead.

| Plan | Price | Users | Support |
|------|-------|-------|---|
| Solo | €9 | one user | mail |
| Team | €59 | ten users | chat |
| read | `cat x \\| grep y` | uniq | - |
"""
ROW = "<table><tr><td>Solo<td>€9<td>one user</tr><tr><td>Team</td><td>€59<td>ten users</tr></table>"
GRID = """+------+------+-----------+
| Plan | Cost | Users     |
+======+======+===========+
| Team | €59  | ten users |
+------+------+-----------+
"""

every_kind = pytest.mark.parametrize("kind", KINDS)


def corpus_of(**texts):
    return Corpus(Document(DocumentId(f"{name}.md"), text) for name, text in texts.items())


def suggested(quote, corpus=None, doc_id=None):
    return suggest(quote, QuoteLocator.of(corpus or corpus_of(guide=GUIDE, other=OTHER)), doc_id)


def checked(tmp_path, row, corpus=None, header="question,quote", **options):
    path = tmp_path / "q.csv"
    path.write_text(f"{header}\n{row}\n", "utf-8")
    return check_quotes(path, corpus or corpus_of(guide=GUIDE, other=OTHER), **options).rows[0]


class TestWhatIsSuggested:
    def test_the_row_of_a_missing_quote_has_the_passage_how_similar_it_is_and_what_differs(self, tmp_path):
        row = checked(tmp_path, "What first?,Install the new client first and restart the server.")
        assert row.status == "missing"
        assert row.suggestion.quote == "Install the new agent first, and restart the server."
        assert (row.suggestion.document, row.suggestion.place) == ("guide.md", "guide.md:8:1")
        assert row.suggestion.copies == ("guide.md:8:1",)
        assert 0.9 < row.similarity < 1
        assert row.difference == "“client” for “agent”, “,” left out"
        assert row.places == ()  # likeness is never enough

    def test_a_row_that_was_located_has_no_suggestion(self, tmp_path):
        row = checked(tmp_path, "What first?,Keep the data directory.")
        assert (row.status, row.suggestion, row.similarity, row.difference) == ("located", None, None, "")

    @pytest.mark.parametrize(
        ("quote", "passage", "difference"),
        [
            ("remove the agent from every node", "remove the old agent from every node", "“old” left out"),
            ("Keep the very data directory.", "Keep the data directory.", "“very” added"),
            ("Keep data the directory.", "Keep the data directory.", "“the” moved"),
            ("restart the sevrer.", "restart the server", "“sevrer” for “server”"),
            ("never takes more than 13 days", "never takes more than 12 days", "“13” for “12”"),
        ],
    )
    def test_what_differs_is_told_in_words(self, quote, passage, difference):
        found = suggested(quote)
        assert found.quote.rstrip(".") == passage.rstrip(".")
        assert difference in found.difference

    @each(
        ("quote", "name", "text", "passage", "difference"),
        [
            ("Team | €49 | ten users | chat", "a.md", PLANS, "Team | €59 | ten users | chat", "“49” for “59”"),
            ("| Team | €49 | ten users | chat |", "a.md", PLANS, "Team | €59 | ten users | chat", "“49” for “59”"),
            ("Team €49 ten users chat", "a.md", PLANS, "Team | €59 | ten users | chat", "“49” for “59”"),
            ("Team | €59 | ten users | mail", "a.md", PLANS, "Team | €59 | ten users | chat", "“mail” for “chat”"),
            ("Crew | €59 | ten users | chat", "a.md", PLANS, "Team | €59 | ten users | chat", "“Crew” for “Team”"),
            (
                "Team | €49 ten | users | chat",
                "a.md",
                PLANS,
                "Team | €59 | ten users | chat",
                "“49” for “59”, “|” added",
            ),
            ("read | cat x | sort y | uniq", "a.md", PLANS, "read | `cat x \\| grep y` | uniq", "“sort” for “grep”"),
            ("Run cat x | sort y first", "a.md", PLANS, "Run `cat x | grep y` first", "“sort” for “grep”"),
            ("Use left && right instead", "a.md", PLANS, "Use left || right instead", "“&&” for “||”"),
            ("Team | €49 | ten users", "a.md", ROW, "Team</td><td>€59<td>ten users", "“49” for “59”"),
            ("Team | €49 | ten users", "a.rst", GRID, "Team | €59  | ten users", "“49” for “59”"),
            ("Team | €49 | ten users", "a.txt", "x\nTeam | €59 | ten users", "Team | €59 | ten users", "“49” for “59”"),
            (
                "Team | €49 | ten users",
                "a.txt",
                "x\nTeam €59 ten users",
                "Team €59 ten users",
                "“|” added, “49 |” for “59”",
            ),
        ],
    )
    def test_borders_of_cells_are_no_difference_where_cells_end(self, quote, name, text, passage, difference):
        found = suggested(quote, Corpus([Document(DocumentId(name), text)]))
        assert (found.quote, found.difference) == (passage, difference)

    def test_borders_of_cells_count_for_no_similarity(self):
        corpus = corpus_of(a=PLANS)
        with_borders, without = (suggested(f"Team{sign}€49{sign}ten users", corpus) for sign in (" | ", " "))
        assert with_borders == without

    def test_markup_capitals_and_quotation_marks_are_no_difference(self):
        found = suggested("“a REFUND takes five working days after we had received the parcel.”")
        assert found.quote.startswith("A refund takes **five** [working days](days.md) after")
        assert found.difference == "“had” for “have”"

    @pytest.mark.parametrize(
        ("quote", "difference"),
        [
            ("A refund takes **six** [working days](days.md) after we have received the parcel.", "“six” for “five”"),
            (
                "A refund takes _five_ `working` [days](days.md#top) when we have received the parcel.",
                "“when” for “after”",
            ),
            ("- A refund takes **five** working days after we have received a parcel.", "“a” for “the”"),
        ],
    )
    def test_markup_of_a_quote_that_was_copied_from_the_source_is_no_difference(self, quote, difference):
        found = suggested(quote)
        assert (found.difference, found.similarity > 0.9) == (difference, True)

    def test_signs_that_no_markup_explains_are_differences(self):
        text = "The product of 2 and 3 and 4 is written as 234 in this old and terse notation."
        found = suggested(text.replace("234", "2*3 *4"), corpus_of(guide=text))
        assert "*" in found.difference
        struck = suggested("Install the ~~new~~ agent first, and restart the servers. Keep the data directory.")
        assert "~~" in struck.difference

    def test_a_suggestion_for_a_quote_with_markup_is_for_people_to_accept(self):
        text = "The product of these numbers is written as 234 in this old and terse notation."
        found = suggested(text.replace("234", "2*3*4"), corpus_of(guide=text))
        assert found.refusal
        found = suggested("Install the **new** agent first, and restart the servers. Keep the data directory.")
        assert (found.difference, found.refusal) == (
            "“servers” for “server”",
            "the quote has markup, which may be text",
        )

    def test_what_is_invisible_is_named(self, tmp_path):
        row = checked(tmp_path, "Which?,Keep the data\u200b dirctory.")
        assert "zero width space (U+200B) behind “data”" in row.difference
        row = checked(tmp_path, "Which?,Keep the da\u2061ta dirctory.")
        assert "function application (U+2061) in “da\u2061ta”" in row.difference

    def test_letters_of_another_script_that_look_alike_are_named(self, tmp_path):
        row = checked(tmp_path, "Which?,Keep the d\u0430ta directory.")
        assert row.difference == "Cyrillic small letter a (U+0430) for Latin small letter a (U+0061) in “data”"

    def test_white_space_beside_symbols_is_told(self):
        assert suggested("Install the new agent first , and restart").difference == "white space added in “first ,”"

    def test_a_quote_that_is_a_sentence_is_widened_to_the_sentence(self):
        assert suggested("You remove the old agent from every node.").quote == (
            "Then remove the old agent from every node of the cluster."
        )

    def test_a_few_words_stay_a_few_words(self):
        assert suggested("from evry node").quote == "from every node"

    def test_a_passage_has_the_sign_and_the_unit_of_its_numbers(self):
        assert suggested("those blow 5 °C").quote == "those below -5 °C"

    def test_a_passage_has_all_of_a_number(self):
        text = "So start the workflow run release.yml -f version=4.16.0 on the branch, and wait for it."
        found = suggested("workflow run release.yml -f version=4", corpus_of(a=text, b=OTHER, c=GUIDE))
        assert (found.quote, found.refusal) == ("workflow run release.yml -f version=4.16.0", "a number differs")

    @pytest.mark.parametrize(
        ("quote", "passage", "difference"),
        [
            ("The fee is 5", "The fee is 5 000 000", "“000 000” left out"),
            ("000 euros for the paper", "5 000 000 euros for the paper", "“5 000” left out"),
        ],
    )
    def test_nor_does_it_cut_a_number_in_groups(self, quote, passage, difference):
        found = suggested(quote, corpus_of(a="The fee is 5 000 000 euros for the paper.", b=OTHER))
        assert (found.quote, found.difference) == (passage, difference)

    def test_no_text_of_another_table_cell_is_taken_in(self):
        assert suggested("big 1.60", corpus_of(a=GUIDE)) is None or "price" not in suggested("big 1.60").quote

    @pytest.mark.parametrize(
        "quote",
        [
            "Wombats dig tunnels.",
            "the of and",
            "It is the first of all of them and the last one of the others, too.",
            "ωψχ",
            "…",
            "?!",
            "1",
            "Completely different words that nobody has ever written in any guide before.",
        ],
    )
    def test_nothing_is_suggested_where_the_best_is_noise(self, quote):
        assert suggested(quote) is None

    def test_nothing_is_suggested_in_empty_documents(self):
        assert suggested("Keep the data directory.", corpus_of(a="", b=" \n")) is None

    def test_scripts_without_spaces_are_compared_by_characters(self):
        found = suggested("退款需要玉个工作日", corpus_of(a="说明。退款需要五个工作日。请稍候。", b=OTHER))
        assert found.quote.startswith("退款需要五个工作日")
        assert found.difference == "“玉” for “五”"

    def test_a_quote_longer_than_any_passage_is_told_to_be_too_long(self, tmp_path):
        row = checked(tmp_path, f"Which?,{'word ' * 5_000}")
        assert row.advice == "nothing similar in the corpus; quote less than 20,000 characters"

    @pytest.mark.parametrize("length", [600, 6_000])
    def test_a_long_quote_with_a_changed_word_is_suggested_whole(self, length):
        words = [f"w{random.Random(number).randrange(5_000)}x" for number in range(9_000)]
        text = " ".join(words)
        quote = text[3_000 : 3_000 + length].split(" ", 1)[1].rsplit(" ", 1)[0]
        given = quote.replace(quote.split()[40], "changed", 1)
        found = suggested(given, corpus_of(a=text, b=OTHER))
        assert found.quote == quote


class TestCopies:
    def test_all_copies_are_told(self, tmp_path):
        row = checked(tmp_path, "Which?,Keep the data directry.", corpus_of(a=GUIDE, b=f"x\n{GUIDE}"))
        assert row.suggestion.copies == ("a.md:8:54", "b.md:9:54")
        assert row.suggestion.refusal == "it occurs 2 times"
        assert "a.md:8:54, and 1 more such" in row.advice

    def test_columns_count_characters_and_lines_end_with_line_feeds(self):
        found = suggested("Keep the date directory.", corpus_of(a="𝔘𝔫𝔦\r\n\r\n😀😀 Keep the data directory.\r\n"))
        assert found.place == "a.md:3:4"


class TestRivals:
    LINUX = "The Linux client stores all of its settings in one file and sends them to the server every night."

    def test_another_passage_that_is_about_as_similar_is_told_and_keeps_it_from_being_accepted(self):
        quote = self.LINUX.replace("settings", "settngs")
        assert suggested(quote, corpus_of(a=self.LINUX, b=OTHER)).refusal == ""
        rival = self.LINUX.replace("night", "nights")
        for corpus in (corpus_of(a=self.LINUX, b=f"X.\n\n{rival}"), corpus_of(a=f"{self.LINUX}\n\n{rival}")):
            place = "b.md:3:1" if len(corpus.documents) > 1 else "a.md:3:1"
            found = suggested(quote, corpus)
            assert (found.document, found.quote) == ("a.md", self.LINUX)
            assert found.refusal == f"another passage is about as similar: {place}"

    def test_a_passage_that_is_less_similar_is_no_rival(self):
        quote = self.LINUX.replace("settings", "settngs")
        assert suggested(quote, corpus_of(a=self.LINUX, b=self.LINUX.replace("Linux", "Windows"))).refusal == ""

    def test_in_the_document_that_is_named_there_is_no_rival(self):
        corpus = corpus_of(a=self.LINUX, b=self.LINUX.replace("night", "nights"))
        assert suggested(self.LINUX.replace("settings", "settngs"), corpus, "a.md").refusal == ""

    def test_a_long_quote_has_rivals_too(self):
        text = " ".join(f"w{random.Random(number).randrange(5_000)}x" for number in range(200))
        words = [*text.split()[:50], "administrator", *text.split()[50:]]
        quote = " ".join(words).replace("administrator", "admnistrator")
        corpus = corpus_of(a=" ".join(words), b=OTHER)
        assert suggested(quote, corpus).refusal == ""
        corpus = corpus_of(a=" ".join(words), b=" ".join([*words[:120], "there", *words[120:]]))
        assert suggested(quote, corpus).refusal == "another passage is about as similar: b.md:1:1"


class TestDocuments:
    def test_a_quote_of_another_document_suggests_that_document(self, tmp_path):
        row = checked(tmp_path, "What?,Keep the data directory.,other", header="question,quote,document")
        assert (row.status, row.suggestion.document, row.similarity) == ("missing", "guide.md", 1)
        assert row.difference == "in guide.md, not in other.md"
        assert row.suggestion.refusal == "it is in another document than the row names"
        assert row.advice == "found in guide.md:8:54, not in other.md: correct the document"

    def test_a_quote_of_a_document_that_is_unknown_suggests_the_right_one(self, tmp_path):
        row = checked(tmp_path, "What?,Keep the data directory.,gide", header="question,quote,document")
        assert (row.suggestion.document, row.suggestion.quote) == ("guide.md", "Keep the data directory.")
        assert row.advice.startswith("found in guide.md:8:54, not in gide: the corpus has no document 'gide'")

    def test_the_document_that_is_named_comes_first(self):
        corpus = corpus_of(a="Keep the data directory.", b="Keep all the data directory.")
        assert suggested("Keep the date directory.", corpus).document == "a.md"
        assert suggested("Keep the date directory.", corpus, "b.md").document == "b.md"

    def test_the_others_are_searched_if_it_has_nothing_similar(self):
        found = suggested("Keep the date directory.", None, "other.md")
        assert (found.document, found.refusal) == ("guide.md", "it is in another document than the row names")
        assert found.difference == "“date” for “data”; in guide.md, not in other.md"

    def test_a_large_document_that_is_named_comes_first(self):
        filler = " ".join(f"number{number} follows" for number in range(30_000))
        corpus = corpus_of(a=f"{filler} Keep the data directory.", b=f"{filler} Keep all the data directory. {filler}")
        assert suggested("Keep the date directory.", corpus, "b.md").document == "b.md"


class TestQuotesThatLeaveSomethingOut:
    def test_the_part_that_was_not_found_is_told_and_suggested(self, tmp_path):
        row = checked(tmp_path, '"What?","Install the new agent … keep the date directory."')
        assert [span.text for span in row.suggestion.spans] == ["Install the new agent", "Keep the data directory."]
        assert row.suggestion.quote == "Install the new agent … Keep the data directory."
        assert row.difference == "“keep the date directory.” was not found: “date” for “data”"
        assert 0.9 < row.similarity < 1

    def test_without_a_suggestion_the_part_is_told_that_was_not_found(self, tmp_path):
        row = checked(tmp_path, '"What?","Install the new agent … wombats dig tunnels."')
        assert row.advice == "nothing similar in the corpus; “wombats dig tunnels.” was not found"
        row = checked(tmp_path, '"What?","Keep the data directory … Install the new agent first"')
        assert row.advice.endswith("its parts were found, but not in this order near each other, with words in between")

    def test_parts_in_the_document_that_is_named_come_first(self):
        corpus = corpus_of(a=GUIDE, b=GUIDE)
        assert suggested("Install the new agent … keep the date directory.", corpus, "b.md").document == "b.md"

    def test_a_quote_of_very_many_parts_is_not_compared(self):
        assert suggested(" … ".join(["Keep the date directory."] * 11)) is None

    def test_parts_in_the_wrong_order_are_not_suggested(self):
        assert suggested("Keep the data directory … Install the new agnet first") is None

    def test_parts_of_which_none_was_found_are_suggested_together(self):
        found = suggested("Install the new clent first … Keep the date directory.")
        assert found.quote == "Install the new agent first … Keep the data directory."


class TestWhatMakesAPlaceUnique:
    def test_the_words_beside_an_ambiguous_quote_are_told_that_only_one_place_has(self, tmp_path):
        corpus = corpus_of(a="Press OK. Then wait. Press OK. Then go.", b="First press OK.")
        row = checked(tmp_path, "What?,Press OK.", corpus)
        assert row.status == "ambiguous"
        assert "a.md:1:22 (behind “wait.”)" in row.advice

    def test_words_beside_a_quote_are_told_as_readers_see_them(self, tmp_path):
        corpus = corpus_of(
            a="> **Wait**\n\n- Press OK.\n- [Go](on.md)\n", b="<b>Press OK.</b> &amp; <i>then</i> stop.\n"
        )
        row = checked(tmp_path, "What?,Press OK.", corpus)
        assert row.advice.startswith("a.md:3:3 (behind “Wait”), b.md:1:4 (before “&”): ")

    def test_of_copies_that_share_all_words_around_no_words_are_told(self, tmp_path):
        row = checked(tmp_path, "What?,Keep the data directory.", corpus_of(a=GUIDE, b=GUIDE))
        assert row.advice.startswith("a.md:8:54, b.md:8:54: name the document, or quote more; or, if each")


class TestOtherForms:
    def test_a_quote_that_is_only_located_ignoring_markup_is_suggested_to_who_ignores_nothing(self, tmp_path):
        row = checked(tmp_path, "What?,A refund takes five working days", verbatim_only=True)
        assert row.suggestion.quote == "A refund takes **five** [working days"
        assert (row.similarity, row.difference) == (1, "it stands there only ignoring: emphasis, links")


def test_of_signs_with_two_frequent_words_no_sentence_is_suggested():
    text = "# Expenses\n\nOther rules apply in the office.\n\nThe limit is **up to** 45 euros.\n"
    assert suggest("****up to** **", QuoteLocator(Corpus([Document(DocumentId("a.md"), text)]))) is None


def overlap(spans, place):
    """Whether spans hold more than half of the characters of a place."""
    shared = sum(
        max(min(span.end, end) - max(span.start, start), 0)
        for span in spans
        for document, start, end in place
        if span.doc_id == document
    )
    return shared > sum(end - start for _, start, end in place) / 2


@pytest.mark.no_cover
@every_kind
def test_near_misses_of_real_pages_are_suggested_at_their_place(kind):
    missed = []
    near_misses = [row for row in rows(kind)["near_misses"] if row["change"] != "row"]  # of two rows: it has two places
    for row in near_misses:
        found = suggest(row["quote"], locator(kind))
        if found is None or not any(overlap(found.spans, place) for place in places(kind, row["from"])):
            missed.append((row["change"], row["quote"], found and found.quote))
    assert len(missed) <= 0.1 * len(near_misses), "\n".join(map(repr, missed))


@pytest.mark.no_cover
@pytest.mark.parametrize("kind", first_of(KINDS, 3))
def test_no_near_miss_of_any_change_is_accepted_at_any_threshold(kind):
    taken = [
        (row["change"], row["quote"], found.quote, found.difference)
        for row in [*rows(kind)["near_misses"], *drawn(kind)["near_misses"]]
        if (found := suggest(row["quote"], locator(kind))) and not found.refusal
    ]
    assert not taken, "\n".join(map(repr, taken))


@pytest.mark.no_cover
@every_kind
def test_quotes_of_other_kinds_of_pages_get_hardly_any_suggestion(kind):
    others = [row["quote"] for other in KINDS if other != kind and other[:4] == kind[:4] for row in once(other)[::7]]
    found = [(quote, given.quote) for quote in others if (given := suggest(quote, locator(kind)))]
    assert len(found) <= 0.05 * len(others), "\n".join(map(repr, found))


@given(
    st.sampled_from([row["quote"] for kind in ("regression/markdown", "regression/man") for row in once(kind)]),
    st.data(),
)
def test_a_suggestion_is_located_by_its_own_text(quote, data):
    is_markdown = any(quote == row["quote"] for row in once("regression/markdown"))
    kind = "regression/markdown" if is_markdown else "regression/man"
    words = quote.split()
    place = data.draw(st.integers(0, len(words) - 1))
    changed = " ".join(
        [*words[:place], data.draw(st.sampled_from(["", "zebra", words[place][::-1]])), *words[place + 1 :]]
    )
    found = suggest(changed, locator(kind))
    if found is not None:
        located = locator(kind).locate(found.quote, found.document).places
        assert found.spans in located
        assert 0 <= found.similarity <= 1
        assert json.dumps(found.difference)
