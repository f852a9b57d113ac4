"""What a quote that was not found may mean: the most similar passage, or nothing in the corpus."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import floor

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from rag_evaluation_framework.data import CharacterSpan, DocumentId
from rag_evaluation_framework.markups.characters import flat, is_key
from rag_evaluation_framework.markups.formats import markup_of
from rag_evaluation_framework.markups.markup import Markup, effects
from rag_evaluation_framework.quotes.keyed_texts import WordRarity
from rag_evaluation_framework.quotes.part_chains import parts_of
from rag_evaluation_framework.quotes.passages import LONGEST, Passage, ShownText, nearest_passage
from rag_evaluation_framework.quotes.quote_locator import MOST_PARTS, Located, QuoteLocator, short
from rag_evaluation_framework.quotes.quoted_text import CELL
from rag_evaluation_framework.quotes.words import Change, Word, WordDifferences, doubt, is_negation, is_number, peeled

# Quotes that were copied from the source of a document, with its markup.

_INLINE = frozenset({"emphasis", "code", "links", "escapes", "headings", "block quotes", "list markers"})


def read_as(doc_id: str, quote: str) -> str:
    """Return what is shown of a quote if it is read as the source of a document.

    The quote as it is, if that hides anything but emphasis, code, links, escapes and the beginnings of lines, or if
    anything is struck out, raised or lowered.

    Args:
        doc_id: The id of the document, which tells its format.
        quote: The quote.
    """
    markup = markup_of(doc_id, quote)
    hidden = {what for _, _, what, _ in markup.parts(0, len(quote))}
    if not hidden or not hidden <= _INLINE or effects(markup, 0, len(quote)):
        return quote
    return markup.shown(0, len(quote)).strip() or quote


# Borders of table cells that are written in a quote: `Team | €49`, as the row of a label reads.

_BORDER = re.compile(r"(?<!\S)\|(?!\S)")
_NEAR = 4  # characters


def with_cells_apart(quote: str, passage: Passage, markup: Markup) -> str:
    """Return a quote with line ends for its borders of cells, where cells end in a passage; as it is, if that has none.

    What is `|` in the passage, too, is text: `cat x | grep y`.

    Args:
        quote: The quote.
        passage: The passage that is nearest to it.
        markup: What is shown of the document of the passage.
    """
    if not _BORDER.search(quote):
        return quote
    shown = ShownText.of(markup, passage.start, passage.end)
    found = WordDifferences(quote, shown.text)
    borders = {
        word.start
        for change in (found.changes if found.there else ())
        for word in found.given[slice(*change.given)]
        if _BORDER.match(quote, word.start)
        and any(_ends_cell(markup, shown, found, at) for at in range(change.there[0], change.there[1] + 1))
    }
    return "".join("\n\n" if place in borders else sign for place, sign in enumerate(quote)).strip()


def _ends_cell(markup: Markup, shown: ShownText, found: WordDifferences, at: int) -> bool:
    """Return whether a cell ends before a word of the passage, or behind the one before it."""
    words = found.there
    start = shown.ends[words[at - 1].end - 1] if at else max(shown.starts[words[0].start] - _NEAR, 0)
    end = shown.starts[words[at].start] if at < len(words) else min(start + _NEAR, len(markup.source))
    return "\n" in markup.shown(start, end) and CELL.search(markup.source, start, end) is not None


# Which changes between a quote and a passage are likely slips of who wrote the quote; nothing else is accepted.
#
# A slip is
#
# - a letter too much or too few, or two neighbours swapped, in a word of five letters or more that begins with the
#   right
#   one, if what is written is no other word of the corpus or of a list of English ones (“casual” for “causal”); other
#   words that the corpus does not have are not known. Never another letter: that makes other words;
# - an `s` or `es` too much or too few at the end of a word of four letters or more;
# - `, ; : .` or quotation marks, but not beside a negation, between numbers, or with white space on both sides;
# - a word divided, joined or hyphenated, but not behind a prefix: “re-sign” is not “resign”.
#
# No word may be left out, added or replaced, not even an article: “few” is not “a few”, “users were deleted” not “users
# deleted”, and “der Mann” not “den Mann”. Nor may other endings: “users select” is not “users selected”.
#
# What is no word of prose has no slips: words with capitals, digits or symbols in or beside them, as programs have
# them.


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FEWEST_LETTERS = 5
_FEWEST_OF_A_PART = 3  # so that “a typical” is not “atypical”
_STEM = re.compile(r"(?=.*[aeiouy])\w{4,}")  # with a vowel: HTTPS is another thing than HTTP
_PREFIXES = _words(  # that make another word: “un-ionized” is not “unionized”
    """a an anti auto be bi co contra counter de dis down en ex extra for fore hyper hypo il im in inter intra ir mal
    mis multi non off out over para post pre pro re semi sub super trans ultra un under up with
    durch ent ge miss über um unter ver wider wieder zer dé més sur entre des sobre"""
)
_OTHER_WORDS = _words(  # English words that are another one with a letter more or less, or with two swapped
    """adverse angel angle averse barely barley beast brain breast brian bride bridge carton cartoon casual casually
    causal causally cause causes clause clauses complaint compliant contact contacted contacting contacts contract
    contracted contracting contracts corporal corporeal counties countries country county course curse dairies
    dairy derive derives desert dessert diaries diary diner dinner discreet discreetly discrete discretely drive
    drives exist existed existing exists exited exiting exits farther father favor fiend fiends filing filling
    flavor forth fourth friend friends genius genus hoping hopping immoral immorality immorally immortal
    immortality immortally indeed indexed later latter lightening lightning making marital marking martial master
    mater matter money monkey morning mourning naive native parity party patent patents patient patients perfect
    phase phased phases phrase phrased phrases picked pickled piece pierce planed planer planned planner portion
    potion prefect present presents preset presets price prince quiet quite reality realty refuse refused relay
    relies replay replies reply retain retrain reuse reused sacred scared scraped scrapped seeing seeking server
    servers serves sever shining shinning sides signed silver singe singed single sleight slides slight sliver
    spans spawns spilt spite split sprite stable stale staring starring stars started starting starts state stated
    states stating stats statue status statute storey storing story string super supper taking talking there
    thorough though threat threats three through tired tortuous torturous trace trail trails trance treat treats
    trial trials tried tuned tuning turned turning union unison unite united unites untie untied unties weather
    wether whether"""
)
_PUNCTUATION = frozenset({",", ";", ":", ".", "...", '"', "'"})
_QUOTATION_MARKS = frozenset({'"', "'"})
_MAY_STAND_BEFORE = frozenset("\"'“”„‟‘‚‛«»‹›([{-‐‑")
_MAY_STAND_BEHIND = frozenset("\"'“”‟‘’‛«»‹›)]},.;:!?…-‐‑")


def other_than_slips(found: WordDifferences, rarity: WordRarity) -> list[Change]:
    """Return the changes that are no likely slips.

    Args:
        found: The quote and the passage.
        rarity: The words of the corpus.
    """
    moved = _moved(found)
    return [change for change in found.changes if not _is_slip(found, change, rarity, moved)]


def _is_slip(found: WordDifferences, change: Change, rarity: WordRarity, moved: frozenset[str]) -> bool:
    given, there = found.given[slice(*change.given)], found.there[slice(*change.there)]
    if any(word.form in moved for word in (*given, *there)):
        return False
    if _are_joined(given, there) or _are_joined(there, given):
        return True
    if not given and _is_hyphen(found.passage, there):
        return found.there[change.there[0] - 1].form not in _PREFIXES
    if not there and _is_hyphen(found.quote, given):
        return found.given[change.given[0] - 1].form not in _PREFIXES
    if _are_punctuation(found.quote, given) and _are_punctuation(found.passage, there):
        return not (_is_beside(found, change, is_negation, any) or _is_beside(found, change, is_number, all))
    given, there = (
        [word for word in words if not _are_punctuation(text, [word])]
        for text, words in ((found.quote, given), (found.passage, there))
    )
    return len(given) == len(there) and all(
        _is_misspelt(found, one, other, rarity) for one, other in zip(given, there, strict=True)
    )


def _moved(found: WordDifferences) -> frozenset[str]:
    """Return the words that are left out at one place and added at another."""
    added = Counter(word.form for change in found.changes for word in found.given[slice(*change.given)])
    dropped = Counter(word.form for change in found.changes for word in found.there[slice(*change.there)])
    return frozenset(added & dropped)


def _are_joined(joined: Sequence[Word], parts: Sequence[Word]) -> bool:
    """Return whether a word is written as several, or without a hyphen."""
    if len(joined) != 1:
        return False
    letters = [word.form for word in parts if word.form != "-"]
    if "".join(letters) != joined[0].form or letters[0] in _PREFIXES:
        return False
    return len(letters) < len(parts) or (len(letters) > 1 and len(letters[0]) >= _FEWEST_OF_A_PART)


def _is_hyphen(text: str, words: Sequence[Word]) -> bool:
    """Return whether there is nothing but a hyphen between letters."""
    return (
        len(words) == 1
        and words[0].form == "-"
        and text[words[0].start - 1 : words[0].start].isalpha()
        and text[words[0].end : words[0].end + 1].isalpha()
    )


def _are_punctuation(text: str, words: Sequence[Word]) -> bool:
    """Return whether all of some words are punctuation of prose: not between letters or numbers, nor between blanks."""
    beside = [(text[word.start - 1 : word.start], text[word.end : word.end + 1]) for word in words]
    return all(
        word.form in _PUNCTUATION
        and not (before.isalnum() and behind.isalnum())
        and (word.form in _QUOTATION_MARKS or not (before.isspace() and behind.isspace()))
        for word, (before, behind) in zip(words, beside, strict=True)
    )


def _is_beside(
    found: WordDifferences, change: Change, is_one: Callable[[str], bool], count: Callable[[Iterable[bool]], bool]
) -> bool:
    """Return whether words of a kind stand right before and behind a change, all or any of them."""
    return any(
        count(is_one(words[place].form) for place in (first - 1, end) if 0 <= place < len(words))
        for words, (first, end) in ((found.given, change.given), (found.there, change.there))
    )


def _is_misspelt(found: WordDifferences, given: Word, there: Word, rarity: WordRarity) -> bool:
    """Return whether a word is another one with a slip in its letters, or with an s behind it."""
    if not (_is_prose(found.quote, given) and _is_prose(found.passage, there)):
        return False
    shorter, longer = sorted((given.form, there.form), key=len)
    if longer.startswith(shorter) and len(longer) > len(shorter):
        return longer[len(shorter) :] in ("s", "es") and _STEM.fullmatch(shorter) is not None
    if len(shorter) < _FEWEST_LETTERS or shorter[0] != longer[0]:
        return False
    same_letters = len(shorter) < len(longer) or sorted(shorter) == sorted(longer)
    written = found.quote[given.start : given.end]
    if not same_letters or OSA.distance(shorter, longer) != 1:
        return False
    return given.form not in _OTHER_WORDS and not rarity.knows(written)


def _is_prose(text: str, word: Word) -> bool:
    """Return whether a word has nothing but letters, no capital behind the first, and no symbol of programs beside."""
    written = text[word.start : word.end]
    if not all(is_key(sign) and not sign.isnumeric() for sign in written) or written[1:] != written[1:].lower():
        return False
    before, behind = text[max(word.start - 2, 0) : word.start], text[word.end : word.end + 2]
    return _may_stand(before[-1:], before[:-1], _MAY_STAND_BEFORE) and _may_stand(
        behind[:1], behind[1:], _MAY_STAND_BEHIND
    )


def _may_stand(beside: str, beyond: str, allowed: frozenset[str]) -> bool:
    """Return whether a character may stand beside a word of prose; a hyphen only between letters."""
    if not beside or beside.isspace():
        return True
    return beside in allowed and (beside not in "-‐‑" or beyond.isalpha())


# What a quote that was not found may mean: the most similar passage, or nothing if that is noise.
#
# A suggestion is for a person to accept or to refuse; nothing is located by it.

# How many times what it takes to tell one word of the corpus from all others the shared words have to tell, and which
# share of what the quote tells (benchmarks/suggestions.py).
_LEAST = ((2.0, 0.55), (4.0, 0.4))
_LEAST_ALIKE = 0.4
_RIVAL = 0.02  # passages whose similarities are as near to each other may both be meant
_MOST_DOCUMENTS = 5
_LIMIT = 20


@dataclass(frozen=True)
class Suggestion:
    """A passage that a quote may mean.

    Attributes:
        quote: The full text of the passage, as the document holds it; of several spans, with " … " in between.
        document: The document.
        spans: The spans, in order: "A … B" has two.
        place: `document:line:column` of the first character; both count from 1, columns in characters.
        copies: The places of all passages with this text, as `place`; more than one is ambiguous. At most 20.
        similarity: How similar quote and passage are, without markup, typography and capitals; in [0, 1].
        difference: In what they differ, in words.
        refusal: Why no threshold is enough to accept it: a number, a sign, a negation or a word differs by more than a
            likely slip, the quote has markup that may be text, part of the passage is struck out, raised or lowered,
            it has copies, another passage is about as similar, or it is in another document than the one that was
            named; "" if nothing speaks against it.
    """

    quote: str
    document: DocumentId
    spans: tuple[CharacterSpan, ...]
    place: str
    copies: tuple[str, ...]
    similarity: float
    difference: str
    refusal: str

    @property
    def percent(self) -> str:
        """The similarity in percent, rounded down, so that no text that differs is said to be the same: "99 %"."""
        return f"{floor(100 * self.similarity)} %"


def suggest(quote: str, locator: QuoteLocator, doc_id: str | None = None) -> Suggestion | None:
    """Return the passage that a quote may mean that was not located; None if nothing is similar enough.

    The words that quote and passage share must tell the passage from all others by far, rare words more than frequent
    ones, and must be more than half of what the quote tells; of a long quote two fifths are enough.

    Args:
        quote: The quote; of one with more than 20,000 characters nothing is suggested.
        locator: Locates quotes in the corpus.
        doc_id: The document that is named; if it has no such passage, the others are searched.
    """
    if len(quote) > LONGEST:
        return None
    parts = [part.strip() for part in parts_of(quote)]
    look = partial(_of_parts, parts) if len(parts) > 1 else partial(_nearest, quote)
    found = look(locator, doc_id)
    if found is None and doc_id is not None:
        other = look(locator, None)
        return other and _elsewhere(other, doc_id)
    return found


def suggest_in_its_place(text: str, span: CharacterSpan, locator: QuoteLocator) -> Suggestion | None:
    """Return what stands where a text stood as a suggestion, however little it tells; None if it is not similar.

    Args:
        text: The text, as it is shown.
        span: What is between the same contexts now.
        locator: The locator of the documents.
    """
    number = locator.numbers[span.doc_id]
    markup = locator.markups[number]
    passage = Passage(number, span.start, span.end, ShownText.of(markup, span.start, span.end).text)
    given = with_cells_apart(peeled(text), passage, markup)
    if _similarity(given, passage) < _LEAST_ALIKE:
        return None
    return _told(given, passage, WordDifferences(given, passage.text), locator, span.doc_id)


def suggest_located(located: Located, locator: QuoteLocator, difference: str, refusal: str = "") -> Suggestion:
    """Return the suggestion to take a place at which a quote was located, though not as it was asked for.

    Args:
        located: At least one place.
        locator: What located it.
        difference: In what the place is not what was asked for.
        refusal: Why no threshold is enough to accept it.
    """
    spans = located.places[0]
    return _suggestion(spans, located.places, locator, 1.0, difference, refusal)


def _elsewhere(found: Suggestion, doc_id: str) -> Suggestion:
    difference = f"{found.difference}; in {found.document}, not in {doc_id}"
    return replace(found, difference=difference, refusal="it is in another document than the row names")


def _nearest(quote: str, locator: QuoteLocator, doc_id: str | None) -> Suggestion | None:
    number = None if doc_id is None else locator.numbers[DocumentId(doc_id)]
    given = peeled(quote)
    passage = nearest_passage(given, locator.rendered, number)
    if passage is None:
        return None
    row = with_cells_apart(given, passage, locator.markups[passage.number])
    if row != given:
        given, passage = row, nearest_passage(row, locator.rendered, number) or passage
    found = WordDifferences(given, passage.text)
    if _is_noise(found, locator.rarity) or _similarity(given, passage) < _LEAST_ALIKE:
        return None
    return _told(given, passage, found, locator, doc_id)


def _told(
    given: str, passage: Passage, found: WordDifferences, locator: QuoteLocator, doc_id: str | None
) -> Suggestion:
    """Return a passage as a suggestion, with what differs and what speaks against it."""
    number = None if doc_id is None else passage.number
    span = _span(passage, locator)
    copies = locator.locate(span.text, doc_id, _LIMIT).places
    similarity, refusal = _similarity(given, passage), _refusal(found, locator.rarity)
    if not any(place[0] == span for place in copies):  # up to 20 of a text that is repeated
        refusal = refusal or ("" if len(copies) > 1 else "a word, a number or a sign goes on beside the passage")
    shown = read_as(span.doc_id, given)
    if shown != given and (as_shown := _similarity(shown, passage)) > similarity:
        similarity, found = as_shown, WordDifferences(shown, passage.text)
        refusal = refusal and (_refusal(found, locator.rarity) or "the quote has markup, which may be text")
    if not refusal and len(copies) < 2:
        refusal = _rival(given, passage, locator, number)
    if looks := _looks(span, locator):
        return _suggestion((span,), copies, locator, similarity, f"{found.told()}, {looks}", refusal or looks)
    return _suggestion((span,), copies, locator, similarity, found.told(), refusal)


def _looks(span: CharacterSpan, locator: QuoteLocator) -> str:
    """Return how letters of a span are written that a quote does not show: "part of it is struck out"; "" if none."""
    markup = locator.markups[locator.numbers[span.doc_id]]
    names = {name for _, names in effects(markup, span.start, span.end) for name in names}
    return f"part of it is {' and '.join(sorted(names))}" if names else ""


def _similarity(quote: str, passage: Passage) -> float:
    return fuzz.ratio(flat(quote).strip(), flat(passage.text).strip()) / 100


def _rival(quote: str, passage: Passage, locator: QuoteLocator, number: int | None) -> str:
    """Return which other passage is about as similar to a quote, as a reason not to take this one; "" if none is."""
    other = nearest_passage(quote, locator.rendered, number, passage)
    if other is None or _similarity(quote, other) < _similarity(quote, passage) - _RIVAL:
        return ""
    return f"another passage is about as similar: {locator.lines.named(_span(other, locator))}"


def _suggestion(
    spans: tuple[CharacterSpan, ...],
    copies: Sequence[tuple[CharacterSpan, ...]],
    locator: QuoteLocator,
    similarity: float,
    difference: str,
    refusal: str,
) -> Suggestion:
    """Return the suggestion of some spans; several copies are a reason to refuse it, if there is no other."""
    place = locator.lines.named(spans[0])
    places = tuple(locator.lines.named(copy[0]) for copy in copies) or (place,)
    several = f"it occurs {len(copies)} times" if len(copies) > 1 else ""
    text = " … ".join(span.text for span in spans)
    similarity = round(similarity, 4)
    return Suggestion(text, spans[0].doc_id, spans, place, places, similarity, difference, refusal or several)


def _refusal(found: WordDifferences, rarity: WordRarity) -> str:
    """Return what differs that nobody may accept unseen; "" if it is nothing but likely slips."""
    changes = other_than_slips(found, rarity)
    return doubt(found) or (f"a word differs: {found.told_of(changes[0])}" if changes else "")


def _is_noise(found: WordDifferences, rarity: WordRarity) -> bool:
    """Return whether the words that are shared may be shared by chance."""
    told = sum(rarity.of(word.form) * alike for word, alike in found.shared())
    whole = sum(rarity.of(word.form) for word in found.given)
    return not any(told >= times * rarity.bits and told >= share * whole > 0 for times, share in _LEAST)


def _span(passage: Passage, locator: QuoteLocator) -> CharacterSpan:
    document = locator.corpus.documents[passage.number]
    return CharacterSpan(document.id, passage.start, passage.end, document.content[passage.start : passage.end])


def _of_parts(parts: list[str], locator: QuoteLocator, doc_id: str | None) -> Suggestion | None:
    """Return a suggestion for "A … B" of which parts were not located: these, as suggested, with the others, in order.

    They must be in one document.
    """
    if len(parts) > MOST_PARTS:
        return None
    places = [[place for place in locator.locate(part, doc_id, _LIMIT).places if len(place) == 1] for part in parts]
    documents: list[str | None] = list(dict.fromkeys(place[0].doc_id for found in places for place in found))
    for document in documents[:_MOST_DOCUMENTS] or [doc_id]:
        chain: list[CharacterSpan] = []
        suggested: dict[int, Suggestion] = {}
        for number, (part, found) in enumerate(zip(parts, places, strict=True)):
            at = chain[-1].end if chain else 0
            inside = chain[0].doc_id if chain else document
            spans = [place[0] for place in found if place[0].doc_id == inside and place[0].start >= at]
            if not spans and (similar := _nearest(part, locator, inside)) and similar.spans[0].start >= at:
                suggested[number], spans = similar, [similar.spans[0]]
            if not spans:
                break
            chain.append(spans[0])
        if len(chain) == len(parts) and suggested:
            return _joined(parts, chain, suggested, locator)
    return None


def _joined(
    parts: Sequence[str], chain: Sequence[CharacterSpan], suggested: dict[int, Suggestion], locator: QuoteLocator
) -> Suggestion:
    lengths = [len(part) for part in parts]
    alike = [suggested[number].similarity if number in suggested else 1.0 for number in range(len(parts))]
    told = [f"“{short(parts[number])}” was not found: {part.difference}" for number, part in suggested.items()]
    refusal = next((part.refusal for part in suggested.values() if part.refusal), "")
    copies = locator.locate(" … ".join(span.text for span in chain), chain[0].doc_id, _LIMIT).places
    similarity = sum(length * each for length, each in zip(lengths, alike, strict=True)) / sum(lengths)
    return _suggestion(tuple(chain), copies, locator, similarity, "; ".join(told), refusal)
