"""Edits of Markdown that change its markup and typography, and near misses that change what it says, marked."""

import random
import re
from functools import partial

from rag_evaluation_framework import Corpus, Document, DocumentId
from support.edited_corpus import BOILERPLATE, WORDS, Marked, plain, written

MARKUP = ("written as markup", -1)
"""The origin of what an edit wrote and no renderer shows."""

_WORD = re.compile(r"(?<=[ \n])[A-Za-z]{3,}(?=[ .,\n])")
_PROSE = re.compile(r"(?m)^(?![#|`]| {4}).+(?:\n(?![#|`\n-]| {4}).+)*")
_FENCED = re.compile(r"(?ms)^```.*?^```$")
_WRAPS = (("*", "*"), ("**", "**"), ("`", "`"), ("_", "_"), ("<b>", "</b>"), ("[", "](https://example.org/a)"))
_CURLY = (
    (re.compile(r'(?<=\s)"(?=\w)'), "“"),
    (re.compile(r'(?<=[\w.])"(?=[\s.,])'), "”"),
    (re.compile(r"(?<=\w)'(?=\w)"), "’"),
    (re.compile(r"(?<= )—(?= )"), "–"),
)


def hidden(text):
    return [Marked(sign, MARKUP) for sign in text]


def _prose(text):
    """Yield the paragraphs of a text that are no code, headings or tables."""
    code = [found.span() for found in _FENCED.finditer(text)]
    for found in _PROSE.finditer(text):
        if not any(first < found.end() and found.start() < last for first, last in code):
            yield found


def _somewhere(marks, pattern, chance):
    text = plain(marks)
    places = [place for part in _prose(text) for place in pattern.finditer(text, *part.span())]
    return chance.choice(places) if places else None


def wrap(marks, dropped, chance):
    """Emphasise a word, make it code, or a link."""
    if word := _somewhere(marks, _WORD, chance):
        text = plain(marks)
        line = text[text.rfind("\n\n", 0, word.start()) + 1 : word.start()]
        before, behind = chance.choice(_WRAPS)
        if before == "[" and line.count("[") != line.count("]"):
            return
        marks[word.end() : word.end()] = hidden(behind)
        marks[word.start() : word.start()] = hidden(before)


def strengthen(marks, dropped, chance):
    if found := _somewhere(marks, re.compile(r"(?<![*\w])\*\w+\*(?![*\w])"), chance):
        marks[found.end() : found.end()] = hidden("*")
        marks[found.start() : found.start()] = hidden("*")


def unwrap(marks, dropped, chance):
    """Take emphasis or a link away."""
    pattern = re.compile(
        r"(?<![*\w])(?P<a>\*+)(?P<in>\w+)(?P<b>\*+)(?![*\w])|(?P<c>\[)(?P<to>\w+)(?P<d>\]\([^()\s]*\))"
    )
    if found := _somewhere(marks, pattern, chance):
        for group in ("b", "d", "a", "c"):
            if found[group]:
                dropped.update(mark.origin for mark in marks[slice(*found.span(group))])
                del marks[slice(*found.span(group))]


def typeset(marks, dropped, chance):
    """Make all quotation marks curly, and dashes shorter, of one paragraph."""
    text = plain(marks)
    parts = list(_prose(text))
    if parts:
        part = chance.choice(parts)
        for pattern, sign in _CURLY:
            for found in pattern.finditer(text, *part.span()):
                marks[found.start()] = Marked(sign, marks[found.start()].origin)


def rewrap(marks, dropped, chance):
    text = plain(marks)
    parts = list(_prose(text))
    if parts:
        part = chance.choice(parts)
        for found in re.finditer(r"(?<=[a-z,.])[ \n](?=[A-Za-z])", text[: part.end()]):
            if found.start() > part.start() and chance.random() < 0.3:
                marks[found.start()] = Marked(chance.choice(" \n"), marks[found.start()].origin)


def change_marker(marks, dropped, chance):
    found = list(re.finditer(r"(?m)^[-*](?= )", plain(marks)))
    if found:
        place = chance.choice(found).start()
        dropped.add(marks[place].origin)
        marks[place] = Marked("*" if marks[place].sign == "-" else "-", MARKUP)


def change_digit(marks, dropped, chance):
    addresses = {place for found in re.finditer(r"\]\(\S*\)", plain(marks)) for place in range(*found.span())}
    places = [place for place, mark in enumerate(marks) if mark.sign.isdigit() and place not in addresses]
    if places:
        place = chance.choice(places)
        marks[place : place + 1] = written(str((int(marks[place].sign) + 1) % 10))


def change_sign(marks, dropped, chance):
    """Change, delete or double a sign that is shown: a point, a minus, an operator of code."""
    found = list(
        re.finditer(r"(?<=\w)[.,](?=\s)|(?<=\s)[<>=+](?=[\s\d])|(?<=[ \n])-(?=\d)|(?<=\w)[*=](?=\w)", plain(marks))
    )
    if found:
        place = chance.choice(found).start()
        marks[place : place + 1] = written(chance.choice(["", "!", ";", "~~"]))


def negate(marks, dropped, chance):
    if word := _somewhere(marks, _WORD, chance):
        marks[word.start() : word.start()] = written(chance.choice(["not ", "never "]))


def strike_or_raise(marks, dropped, chance):
    """Strike a word out, or raise it: with the same letters, it says something else."""
    if word := _somewhere(marks, _WORD, chance):
        before, behind = chance.choice((("~~", "~~"), ("<del>", "</del>"), ("<s>", "</s>"), ("<sup>", "</sup>")))
        marks[word.end() : word.end()] = written(behind)
        marks[word.start() : word.start()] = written(before)


def change_word(marks, dropped, chance):
    if word := _somewhere(marks, _WORD, chance):
        marks[word.start() : word.end()] = written(chance.choice(WORDS) + "ly")


def change_capital(marks, dropped, chance):
    if word := _somewhere(marks, _WORD, chance):
        marks[word.start() : word.start() + 1] = written(marks[word.start()].sign.swapcase())


MARKUP_EDITS = (wrap, wrap, strengthen, unwrap, typeset, rewrap, change_marker)
NEAR_MISSES = (change_digit, change_sign, negate, strike_or_raise, change_word, change_capital)


def marked_up(seed, documents, boilerplate, sections=4):
    """Return a corpus of Markdown with emphasis, links, lists, code, numbers and quotation marks.

    Copies of boilerplate differ in their emphasis.
    """
    chance = random.Random(seed)
    return Corpus(
        Document(DocumentId(f"page-{number:03}.md"), "\n\n".join(_parts(chance, sections, boilerplate)) + "\n")
        for number in range(documents)
    )


def _parts(chance, sections, boilerplate):
    yield f"# {_sentence(chance, 2)}"
    for _ in range(sections):
        own = _sentence(chance, 3)
        yield f"## {chance.choice(['Limits', 'Example', own]) if boilerplate else own}"
        if boilerplate and chance.random() < 0.5:
            yield " ".join(map(partial(_emphasised, chance), chance.choice(BOILERPLATE).split()))
        for _ in range(chance.randrange(1, 4)):
            yield " ".join(_sentence(chance, chance.randrange(5, 12)) for _ in range(chance.randrange(1, 4)))
        yield "\n".join(f"- {_sentence(chance, chance.randrange(4, 9))}" for _ in range(chance.randrange(2, 5)))
        if chance.random() < 0.5:
            names = [chance.choice(WORDS) for _ in range(6)]
            yield "```\n{} = {}*{}*{}\nreturn {} - {}*2\n```".format(*names)


def _emphasised(chance, word):
    return f"*{word}*" if chance.random() < 0.1 else word


def _sentence(chance, words):
    parts = [_piece(chance, chance.choice(WORDS)) for _ in range(words)]
    parts[0] = chance.choice(WORDS).capitalize()
    return f"{' '.join(parts)}{chance.choice(['.', '.', '.', '!'])}"


def _piece(chance, word):
    number = chance.randrange(1, 2000)
    forms = [f"*{word}*", f"**{word}**", f"`{word}`", f"[{word}](https://example.org/{number})", f'"{word}"']
    forms += [str(number), f"{word}'s", f"— {word}", f"{number / 10}", f"< {number}", f"-{number}", f"{word},"]
    return word if chance.random() < 0.6 else chance.choice(forms)
