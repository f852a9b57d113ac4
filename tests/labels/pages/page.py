"""One page: its source marked and rendered, and quotes of it with the exact spans that the marks prove."""

import random
import re
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Page as Tab
from tests.labels.pages import render
from tests.labels.pages.draw import drawn
from tests.labels.pages.folding import folded, letters, plain
from tests.labels.pages.marks import WORD, Mark, harmless, marked, restored, words

SCRIPT = (Path(__file__).parent / "browser.js").read_text("utf-8")
UNIT = re.compile(r"&#?\w{1,31};|\\?.", re.S)


@dataclass
class Quote:
    """A quote of a page: as copied, where it stands in the rendering, its span, and where its last word ends there."""

    text: str
    shape: str
    shown: tuple[int, int]
    span: tuple[int, int]
    word_end: int = 0


@dataclass
class Rendered:
    """What a marked source gives: the reader's text and the corpus's, each with the places of the marks."""

    text: str
    places: dict[int, int]
    corpus: str
    corpus_places: dict[int, int]


@dataclass
class PageOfQuotes:
    """A page of a kind; how names its renderer, copied where the quotes come from (page, viewer, terminal)."""

    tab: Tab
    name: str
    kind: str
    source: str
    how: str
    copied: str
    base: str  # the kind of the source: that of the page, but for PDF
    extractor: str = ""
    set_as_a_book: bool = False
    left_out: bool = False  # drawn from, but not written: what it says must not be committed here
    marks: list[Mark] = field(default_factory=list)
    quotes: list[Quote] = field(default_factory=list)

    @property
    def searched_as_source(self) -> bool:
        """Whether the corpus holds the source, not a rendering of it."""
        return self.kind in ("markdown", "html", "rst")

    def prepare(self, tries: int) -> None:
        """Mark all words that can be marked, and remember where they went."""
        self.clean = self.rendered([])
        hidden = render.HIDDEN[self.base] + (render.BROKEN_BEHIND if self.kind == "pdf" else [])
        hidden += [render.unkerned(self.source)] if self.set_as_a_book else []
        found = words(self.source, hidden)
        self.marks = harmless(found, self._harmless, tries)
        self.now = self.rendered(self.marks)
        if (self.now.text, self.now.corpus) != (self.clean.text, self.clean.corpus):
            self.marks, self.now = [], self.clean
        self.shown_at = {place: number for number, place in self.now.places.items()}

    def _harmless(self, marks: list[Mark]) -> bool:
        if self.kind == "pdf":  # printing takes long: what a mark breaks it breaks in the page, too
            shown = [stood for _, stood in marks]
            return restored(self._page_text(marks), shown)[0] == self._page_clean()
        new = self.rendered(marks)
        return (new.text, new.corpus) == (self.clean.text, self.clean.corpus)

    def _page_clean(self) -> str:
        if not hasattr(self, "_page"):
            self._page = self._page_text([])
        return self._page

    def _page_text(self, marks: list[Mark]) -> str:
        return render.browser_text(self.tab, self._html(marked(self.source, marks)))

    def _html(self, source: str) -> str:
        return render.to_html(self.base, source, self.how)

    def rendered(self, marks: list[Mark], shown: list[str] | None = None) -> Rendered:
        """The page with these marks, restored."""
        source = marked(self.source, marks)
        shown = shown or [stood for _, stood in marks]
        text, corpus = self._both(source, shown)
        text, places = restored(text, shown)
        if corpus is None:
            return Rendered(text, places, self.source, {number: at for number, (at, _) in enumerate(marks)})
        corpus, corpus_places = restored(corpus, shown)
        return Rendered(text, places, corpus, corpus_places)

    def _both(self, source: str, shown: list[str]) -> tuple[str, str | None]:
        if self.kind == "pdf":
            data = render.pdf(self.tab, self._html(source), shown, set_as_a_book=self.set_as_a_book)
            corpus = render.pdf_corpus(data, self.extractor)
            if self.copied == "viewer":
                return render.pdf_viewer(data), corpus
            return render.browser_text(self.tab, self._html(source)), corpus
        if self.kind == "man":
            corpus = render.terminal(source, self.how, 80, shown)
            if self.copied == "terminal":
                return render.terminal(source, self.how, 116, shown), corpus
            return render.browser_text(self.tab, self._html(source)), corpus
        return render.browser_text(self.tab, self._html(source)), None

    def draw(self, wanted: int, rng: random.Random) -> None:
        """Draw quotes and keep those whose span the marks prove."""
        if self.copied == "page":
            self.tab.set_content(self._html(marked(self.source, self.marks)), wait_until="commit")
            self.tab.evaluate(SCRIPT, [stood for _, stood in self.marks])
        candidates, seen = [], set()
        for tried, (shape, start, end) in enumerate(drawn(self.now.text, wrapped=self.copied != "page", rng=rng)):
            if tried > wanted * 40 or len(candidates) >= wanted * 2:
                break
            found = self._candidate(shape, start, end)
            if found and found[0].text not in seen:
                seen.add(found[0].text)
                candidates.append(found)
        for quote, first, last in candidates:
            if len(self.quotes) < wanted and self._proved(quote, first, last):
                self.quotes.append(quote)

    def _candidate(self, shape: str, start: int, end: int) -> tuple[Quote, int, int] | None:
        text = self.now.text
        found = list(WORD.finditer(text, start, end))
        if not found:
            return None
        first, last = found[0].start(), found[-1]
        start += len(re.match(r"(?:.*\s)?", text[start:first], re.S)[0])
        end = last.end() + len(re.match(r"\S*", text[last.end() : end])[0])
        if first not in self.shown_at or last.start() not in self.shown_at:
            return None
        one, two = self.shown_at[first], self.shown_at[last.start()]
        if one not in self.now.corpus_places or two not in self.now.corpus_places:
            return None
        copied = text[start:end]
        if self.copied == "page":
            copied = self.tab.evaluate("(a) => copied(...a)", [one, first - start, two, end - last.start()])
            if letters(copied) != letters(text[start:end]):
                return None
        return Quote(copied.strip(), shape, (start, end), (0, 0)), one, two

    def _proved(self, quote: Quote, one: int, two: int) -> bool:
        """Whether marks at the ends of a span show that its rendering is the quote; sets the span."""
        text, corpus = self.now.text, self.now.corpus
        start, end = quote.shown
        first = WORD.search(text, start)
        last = WORD.match(text, self.now.places[two])
        before, behind = text[start : first.start()], text[last.end() : end]
        at, to = self.now.corpus_places[one], self._end_of_word(self.now.corpus_places[two], last[0])
        if to is None:
            return False
        quote.word_end = to
        if not self.searched_as_source:
            a, b = at - len(before), to + len(behind)
            quote.span = (a, b)
            same = plain(corpus[a:at]) == plain(before) and plain(corpus[to:b]) == plain(behind)
            return (
                same
                and letters(corpus[a:b]) == letters(quote.text)
                and not self._divided_inside_a_line(corpus[a:b])
                and self._ends_proved(one, two, len(last[0]), (at, to))
            )
        for a in self._starts(at, before):
            for b in self._ends(to, behind):
                if self._span_proved(a, b, quote):
                    return True
        return False

    def _divided_inside_a_line(self, part: str) -> bool:
        """Whether a word is divided where the print did not break the line, as the screen did."""
        if not self.set_as_a_book:
            return False
        page = folded(self._page_clean())
        hyphened = map(folded, re.findall(r"[^\W\d_]+-[^\W\d_]+", part))
        return any(word not in page and word.replace("-", "") in page for word in hyphened)

    def _end_of_word(self, at: int, word: str) -> int | None:
        """Where a word ends in the corpus; a printed one may be divided there, or have ligatures."""
        corpus = self.now.corpus
        if corpus.startswith(word, at):
            return at + len(word)
        ends = range(at + 1, at + len(word) + 4) if self.kind == "pdf" else ()
        return next((end for end in ends if letters(corpus[at:end]) == letters(word)), None)

    def _ends_proved(self, one: int, two: int, size: int, corpus: tuple[int, int]) -> bool:
        """The first letter of the first word and the last letter of the last one, marked alone."""
        at, to = self.marks[one][0], self.marks[two][0] + size - 1
        if to <= at:
            return False
        new = self.rendered([(at, self.source[at]), (to, self.source[to])])
        whole = not self.clean.corpus[corpus[1] : corpus[1] + 1].isalnum()
        return whole and new.corpus == self.clean.corpus and new.corpus_places == {0: corpus[0], 1: corpus[1] - 1}

    def _starts(self, at: int, before: str) -> list[int]:
        if not before:
            return [at]
        near = range(at - 1, max(-1, at - 60), -1)
        return [x for x in near if plain(self.source[x]) == plain(before[0]) or self.source[x] == "&"][:4]

    def _ends(self, to: int, behind: str) -> list[int]:
        if not behind:
            return [to]
        near = range(to, min(len(self.source), to + 200))
        return [x + 1 for x in near if plain(self.source[x]) == plain(behind[-1]) or self.source[x] == ";"][:5]

    def _span_proved(self, a: int, b: int, quote: Quote) -> bool:
        source, (start, end) = self.source, quote.shown
        head = re.compile(r"&#?\w{1,31};").match(source, a)
        tail = re.search(r"&#?\w{1,31};\Z", source[max(0, b - 34) : b])
        first = head[0] if head else source[a]
        last = tail[0] if tail else source[b - 1]
        if a + len(first) > b - len(last):
            return False
        new = self.rendered([(a, first), (b - len(last), last)], [self.clean.text[start], self.clean.text[end - 1]])
        if new.text != self.clean.text or new.places != {0: start, 1: end - 1}:
            return False
        quote.span = (a, b)
        return True
