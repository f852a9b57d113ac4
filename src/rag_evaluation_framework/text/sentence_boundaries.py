"""Where sentences end.

Rules in the spirit of UAX #29, with what that standard leaves to others: abbreviations, initials, list numbers, lines
of Markdown. No library that was tried gives exact places, knows abbreviations, survives any text and takes linear time
(docs/adr/0024-sentence-boundaries.md).
"""

import re

Place = tuple[int, int]
"""Where a stretch of text starts and ends."""

_LINE_BREAKS = r"\n\r\x0b\x0c\x85\u2028\u2029"
_ALWAYS_LAST = "。｡！？．؟۔।॥։።፧။។᠃᠉⸮"
_CLOSING = r"\"'”’»›)\]}」』）】］〉》〕＂＇*_\u0300-\u036f\u200d\ufe00-\ufe0f"
# Possessive quantifiers: nothing is read twice, so that no text takes more than linear time.
_CANDIDATE = re.compile(
    rf"(?P<marks>[.?!…‥{_ALWAYS_LAST}]++)(?:[{_CLOSING}]|\[\d{{1,4}}\])*+(?P<gap>\s*+)"
    rf"|(?P<lines>[{_LINE_BREAKS}]\s*+)"
)
_LINE_BREAK = re.compile(rf"\r\n|[{_LINE_BREAKS}]")
_HEADING_OR_ROW = re.compile(r"#{1,6}\s|\||```|~~~")
_NEW_BLOCK = re.compile(rf"(?:[-*+•‣◦]|\d{{1,2}}[.)])\s|{_HEADING_OR_ROW.pattern}")
_MARKERS = re.compile(r"(?:(?:#{1,6}|[-*+•‣◦>])\s++)*+")
_OPENING = re.compile(r"[\"'“‘„«‹(\[{「『（【［〈《*_¿¡]*+")
_WORD_BEFORE = re.compile(r"[\w.'’-]*\Z")
_LONGEST_ABBREVIATION = 20
_WORD = re.compile(r"\w{1,20}")
_NUMERAL = re.compile(r"[A-Z]?\.?\d|(?:[IVXLC]+|[A-Z])\b(?!\.\D)")
_ACRONYM = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")
_LIST_NUMBER = re.compile(r"\d{1,3}|[^\W\d_]|[ivxIVX]{2,5}")
_NO_SPACES = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEVER_LAST = _words(
    "mr mrs ms mx messrs dr prof rev fr hon st gen col maj sgt capt cpt lt cmdr adm gov sen rep pres supt mt "
    "e.g i.e eg ie cf viz vs resp approx ca z.b d.h bzw vgl mme mlle sra"
)
_BEFORE_A_NUMBER = _words(
    "no nos nr fig figs eq eqs sec secs sect ch chap vol vols art arts tab p pp par para app ref refs pt abs ver"
)
_RARELY_LAST = _words(
    "inc ltd co corp bros jr sr esq etc al est dept univ assn bldg ave blvd rd ed eds hr hrs sq ft min max avg "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun"
)
_FIRST_WORDS = _words(
    "A After All Also Although An And Another As At Because Before But By Each Even Every Few For From He Her Here "
    "His How However I If In Instead It Its Just Many Most My No Not Nothing Now On Once One Only Our She Since So "
    "Some Such That The Their Then There These They This Those Though Thus To Today Under Until We What When Where "
    "Which While Who Why With Yes Yet You Your"
)


def sentence_places(text: str) -> list[Place]:
    """Return the places of the sentences of a text: end to end, covering all of it; none for an empty text.

    A sentence keeps the white space behind it; white space at the beginning belongs to the first sentence.
    """
    starts = [0] if text else []
    line = len(text) - len(text.lstrip())  # where the first word of the line starts
    for match in _CANDIDATE.finditer(text):
        end = match.end()
        breaks: list[str] = _LINE_BREAK.findall(match["gap"] or match["lines"] or "")
        paragraph = len(breaks) > 1 or "\u2029" in breaks
        block = bool(breaks) and bool(_NEW_BLOCK.match(text, end) or _HEADING_OR_ROW.match(text, line))
        last = paragraph or block or bool(match["marks"] and _ends_sentence(text, match, max(line, starts[-1])))
        if breaks:
            line = end
        if last and end < len(text) and not text[starts[-1] : end].isspace():
            starts.append(end)
    return list(zip(starts, [*starts[1:], len(text)], strict=True)) if text else []


def _ends_sentence(text: str, match: re.Match[str], begin: int) -> bool:
    """Return whether marks within a paragraph end a sentence; `begin` is where their line, or sentence, begins."""
    marks, end = match["marks"], match.end()
    always = marks[-1] in _ALWAYS_LAST
    if not match["gap"]:
        if always:
            return not text[end : end + 1].isdigit()  # a full-width stop may be a decimal point
        return marks[-1] != "." and _NO_SPACES.match(text, end) is not None
    following = _end_of(_OPENING, text, end)
    first = text[following : following + 1]
    if always:
        return True
    if first.islower() or first in {".", "…", "‥"}:
        return False
    return marks != "." or not _is_abbreviation(text, match.start(), following, begin)


def _is_abbreviation(text: str, stop: int, following: int, begin: int) -> bool:
    """Return whether the full stop at `stop` belongs to the word before it, and the sentence goes on at `following`."""
    found = _WORD_BEFORE.search(text, max(begin, stop - _LONGEST_ABBREVIATION), stop)
    word = found[0].strip("'’-") if found else ""
    if stop - len(word) == _end_of(_MARKERS, text, begin) and _LIST_NUMBER.fullmatch(word):
        return True
    if word.lower() in _NEVER_LAST:
        return True
    if word.lower() in _BEFORE_A_NUMBER:
        return _NUMERAL.match(text, following) is not None
    initial = len(word) == 1 and word.isupper() and word != "I"
    if not (initial or word.lower() in _RARELY_LAST or _ACRONYM.fullmatch(word)):
        return False
    after = _WORD.match(text, following)
    return after is None or after[0] not in _FIRST_WORDS


def _end_of(pattern: re.Pattern[str], text: str, start: int) -> int:
    """Return where what a pattern matches at `start` ends, at `start` itself if it matches nothing."""
    match = pattern.match(text, start)
    return match.end() if match else start
