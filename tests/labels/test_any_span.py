"""The promise of quotes: any span, copied and changed as people do, is located exactly or said to be ambiguous.

Documents are drawn with what is shown of them (rendered.py), of few words, so that most spans have near copies; quotes
are spans as they are shown, changed by any mix of what is to be ignored (copied.py). More than the 500 of each run:
`pytest tests/labels/test_any_span.py --hypothesis-profile many` tries 20,000.

What is not promised, and not drawn: spans that begin or end with a number beside a dash, which may be its sign or that
of a range, before a "!", which may make it a factorial, or behind the ">" of a tag in code, which may compare it; one
part of "5 ½"; numbers of list items where the lines of the quote were joined; "A … B" over an ellipsis of the document,
or in quotation marks that the document has before another A or behind another B.
"""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.labels.copied import ELLIPSES, FINAL, OUTER, WITHIN, unified
from tests.labels.rendered import Writer

from rag_evaluation_framework import Corpus, Document, DocumentId
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.labels.quote_locator import Located, QuoteLocator

FORMATS = ("md", "rst", "txt")
EXAMPLES = 5 * settings().max_examples


def core(text):
    """A text without what may differ between a quote and what is shown, nor symbols at its ends."""
    return re.sub(r"\A[\W_]+|[\W_]+\Z", "", unified(text).casefold())


class Case:
    """A span of a random document, and a quote of it.

    Attributes:
        pages: The documents, by id.
        place: Where the quote comes from: the document, and the first and end of each span.
        quote: The quote.
        changes: What was changed in it.
    """

    def __init__(self, rng):
        words: list[tuple[int, int]] = []
        while not words:
            drawn = [Writer(rng, rng.choice(FORMATS)).write() for _ in range(rng.choice([1, 1, 2]))]
            self.pages = {f"{'ab'[number]}.{page.suffix}": page for number, page in enumerate(drawn)}
            self.doc_id, self.page = rng.choice(list(self.pages.items()))
            words = [word for word in self.page.words if not self._is_part(*word)]
        first = rng.randrange(len(words))
        last = min(first + rng.choice([0, 1, 2, 3, 5, 8, 13, 21]), len(words) - 1)
        parts = [(first, last)]
        if last - first >= 4 and rng.random() < 0.15:
            ends = sorted(rng.sample(range(first, last + 1), 2))
            # an ellipsis of the document itself stands for nothing left out, or for more than a few words
            if ends[0] + 1 < ends[1] and "…" not in self.page.text(words[first][0], words[last][1]):
                parts = [(first, ends[0]), (ends[1], last)]
        self.shown = [(words[one][0], words[other][1]) for one, other in parts]
        self.place = [(self.doc_id, *self.page.span(*part)) for part in self.shown]
        chosen = rng.sample(list(WITHIN), rng.choice([0, 1, 1, 2, 3, 4]))
        self.changes = [change for change in WITHIN if change in chosen]
        self.quote = rng.choice([" … ", " [...] ", " ... "]).join(self._copied(rng, *part) for part in self.shown)
        self._add(rng)

    def _is_part(self, start, end):
        """Whether a number has a dash beside it, ">" before it or "!" behind it, or is of "5 ½": not found."""
        if re.search(r"\d\s½", self.page.text(max(start - 2, 0), end + 2)):
            return True
        word, around = self.page.text(start, end), (self.page.text(start - 1, start), self.page.text(end, end + 1))
        if around[1] == "!" and word[-1].isnumeric():
            return True
        return any(sign in tuple("—->") and word[at].isnumeric() for at, sign in zip((0, -1), around, strict=True))

    def _copied(self, rng, start, end):
        page = self.page
        text = "".join(sign for sign, _, _ in page.shown[start:end])
        for change in self.changes:
            text = WITHIN[change](text, rng)
        return text

    def _add(self, rng):
        """Add what people add at the ends, unless the document has it there, too."""
        before, behind = (self._beside(side) for side in (0, 1))
        if rng.random() < 0.15 and behind not in (*FINAL, *"….\"'”’»)]?!("):
            self.quote += rng.choice(FINAL)
            self.changes.append("final punctuation")
        if rng.random() < 0.15 and behind not in tuple("….") and before not in tuple("….") and len(self.shown) == 1:
            blank = rng.choice(["", " "])
            self.quote = rng.choice(
                [self.quote + blank + rng.choice(ELLIPSES), rng.choice(ELLIPSES) + blank + self.quote]
            )
            self.changes.append("ellipsis around")
        if rng.random() < 0.15 and not {before, behind} & set("“”\"'‘’«»`"):
            opening, closing = rng.choice(OUTER)
            if len(self.shown) == 1 or not {opening, closing} & {*self.page.source}:
                self.quote = opening + self.quote + closing
                self.changes.append("outer quotation marks")

    def _beside(self, side):
        """Return the symbol beside the span."""
        if side:
            return self.page.text(self.shown[-1][1], len(self.page.shown)).lstrip()[:1]
        return self.page.text(0, self.shown[0][0]).rstrip()[-1:]

    def wrong(self):
        """Return what is wrong with where the quote is located, in words; "" if nothing is."""
        corpus = Corpus(Document(DocumentId(name), page.source) for name, page in self.pages.items())
        located = QuoteLocator(corpus).locate(self.quote, limit=1_000).places
        found = [[(span.doc_id, span.start, span.end) for span in place] for place in located]
        if not found:
            return "missing"
        wrong = [place for place in found if not self._is_place(place)]
        if wrong:
            return f"elsewhere: {[[self._source(*span) for span in place] for place in wrong]}"
        if self.place in found or self._with_marker() in found or any(self._is_as_quoted(place) for place in found):
            return ""
        return f"not at its place: {[[self._source(*span) for span in place] for place in found]}"

    def _source(self, name, start, end):
        return self.pages[name].source[start:end]

    def _is_place(self, place):
        """Whether the same is shown there, or what is quoted: a quote may be of several places, and of no others."""
        if place in (self.place, self._with_marker()):
            return True
        there = [unified(self._shown_between(*span)).casefold() for span in place]
        here = [unified(self.page.text(*part)).casefold() for part in self.shown]
        quote = unified(self.quote).casefold()
        if any(re.search(r"\n\s*- ", self._source(*span)) for span in place):  # a dash may be the marker of an item
            there, here = ([part.replace("-", "") for part in parts] for parts in (there, here))
        if there == here or (len(there) == 1 and there[0] == core(quote)):
            return all(self._is_exact(*span) for span in place)
        return list(map(core, there)) == list(map(core, here)) and all(part in quote for part in there)

    def _is_exact(self, name, start, end):
        """Whether the first and the last character of a span are shown, and no blanks."""
        shown = self.pages[name].shown
        begun = any(first == start and not sign.isspace() for sign, first, _ in shown)
        return begun and any(behind == end and not sign.isspace() for sign, _, behind in shown)

    def _with_marker(self):
        """The place with the number of its list item, if the quote has it as it stands in the source."""
        (name, start, end), *others = self.place
        marker = self.page.begins.get(self.shown[0][0], "")
        if marker and marker in self.quote[: len(marker) + 6] and self.page.source.endswith(marker, 0, start):
            start -= len(marker)
        return [(name, start, end), *others]

    def _is_as_quoted(self, place):
        """Whether a place is the quote up to capitals, though what is shown at the span is not: that goes before."""
        wanted = unified(self.quote).casefold()
        there = [unified(self._shown_between(*span)).casefold() for span in place]
        return [wanted] == there and wanted != unified(self.page.text(*self.shown[0])).casefold()

    def _shown_between(self, name, start, end):
        page = self.pages[name]
        inside = [sign for sign, first, behind in page.shown if start <= first and behind <= end]
        return "".join(inside)

    def told(self):
        sources = "\n".join(f"--- {name}\n{page.source}" for name, page in self.pages.items())
        spans = [self.pages[name].source[start:end] for name, start, end in self.place]
        return f"{sources}\n--- span {spans}\n--- quote {self.quote!r}\n--- changed by {self.changes}"


@pytest.mark.no_cover
@settings(max_examples=EXAMPLES)
@given(st.randoms(use_true_random=False))
def test_any_span_is_located_exactly_or_said_to_be_ambiguous(rng):
    case = Case(rng)
    wrong = case.wrong()
    assert not wrong, f"{wrong}\n{case.told()}"


@pytest.mark.parametrize("found_besides", [lambda start, end: (0, 1), lambda start, end: (max(start - 1, 0), end)])
def test_a_place_that_is_none_of_the_quote_is_noticed_beside_the_true_one(monkeypatch, found_besides):
    locate = QuoteLocator.locate

    def with_another(locator, *arguments, **options):
        located = locate(locator, *arguments, **options)
        others = []
        for place in located.places:
            text = next(page.content for page in locator.corpus.documents if page.id == place[0].doc_id)
            start, end = found_besides(place[0].start, place[0].end)
            others.append((CharacterSpan(place[0].doc_id, start, end, text[start:end]), *place[1:]))
        return Located(located.places + tuple(others), located.ignoring)

    monkeypatch.setattr(QuoteLocator, "locate", with_another)
    cases = [case for seed in range(100) if (case := Case(random.Random(seed))).place[0][1] > 0]
    assert sum(case.wrong() != "" for case in cases) >= 0.9 * len(cases)
