"""A corpus that is edited while each character carries where it came from: the truth needs no search."""

import random
import re
from dataclasses import dataclass
from itertools import pairwise

from rag_evaluation_framework import Corpus, Document, DocumentId

WORDS = re.findall(
    r"\w+",
    """
    agent archive backup batch billing branch bucket cluster colour contract copy customer export folder
    garden index invoice journal key ledger limit machine margin mirror network office packet parcel payment
    policy printer queue record refund region report router sample schedule script server shelf signal station
    storage table token upgrade vault version volume window worker yard zone
    """,
)
BOILERPLATE = (
    "This page is part of the manual. Report errors to the documentation team.",
    "Note: The values shown here are examples. Replace them with your own before you continue.",
    "Support answers within one day.",
    "Yes.",
    "See also the list of limits.",
    "Copyright of the manual is with its authors.\nAll rights are reserved, and nothing is promised.",
)


@dataclass(frozen=True)
class Marked:
    """A character and where it came from: the document and the offset, or None if it was written by the edit."""

    sign: str
    origin: tuple[str, int] | None


Texts = dict[str, list[Marked]]


def marked(corpus):
    return {
        document.id: [Marked(sign, (document.id, place)) for place, sign in enumerate(document.content)]
        for document in corpus
    }


def written(text):
    return [Marked(sign, None) for sign in text]


def plain(marks):
    return "".join(mark.sign for mark in marks)


def unmarked(texts):
    return Corpus(Document(DocumentId(name), plain(texts[name])) for name in sorted(texts))


def survivors(texts):
    """Return where each character of the corpus before the edit is now."""
    return {
        mark.origin: (name, place) for name, marks in texts.items() for place, mark in enumerate(marks) if mark.origin
    }


def place_now(now, doc_id, start, end):
    """Return document and offset of a span if all of its characters survived side by side, else None."""
    places = [now.get((doc_id, offset)) for offset in range(start, end)]
    if None in places:
        return None
    name, first = places[0]
    return (name, first) if places == [(name, first + step) for step in range(end - start)] else None


def split(marks, pattern):
    """Return the parts of a text, each beginning where the pattern matches or at the beginning."""
    text = plain(marks)
    cuts = [0, *(match.start() for match in re.finditer(pattern, text) if match.start()), len(text)]
    return [marks[first:last] for first, last in pairwise(cuts)]


def move_paragraph(texts, chance):
    source, target = chance.choice(sorted(texts)), chance.choice(sorted(texts))
    parts = split(texts[source], r"(?<=\n\n)(?!\n)")
    part = parts.pop(chance.randrange(len(parts)))
    texts[source] = [mark for each in parts for mark in each]
    parts = split(texts[target], r"(?<=\n\n)(?!\n)")
    if not plain(part).endswith("\n\n"):
        part = part + written("\n\n")
    parts.insert(chance.randrange(len(parts) + 1), part)
    texts[target] = [mark for each in parts for mark in each]


def change_word(texts, chance):
    name = chance.choice(sorted(texts))
    words = list(re.finditer(r"\w+", plain(texts[name])))
    if words:
        word = chance.choice(words)
        texts[name][word.start() : word.end()] = written(chance.choice(WORDS) + "ly")


def delete_section(texts, chance):
    name = chance.choice(sorted(texts))
    parts = split(texts[name], r"(?m)^#+ ")
    parts.pop(chance.randrange(len(parts)))
    texts[name] = [mark for each in parts for mark in each]


def move_section(texts, chance):
    source, target = chance.choice(sorted(texts)), chance.choice(sorted(texts))
    parts = split(texts[source], r"(?m)^#+ ")
    part = parts.pop(chance.randrange(len(parts)))
    texts[source] = [mark for each in parts for mark in each]
    texts[target] = texts[target] + written("\n\n") + part


def rename(texts, chance):
    name = chance.choice(sorted(texts))
    new = chance.choice([name.upper(), f"old/{name}", f"{chance.choice(WORDS)}-{chance.randrange(1000)}.md"])
    if new not in texts:
        texts[new] = texts.pop(name)


def swap_names(texts, chance):
    one, other = chance.choice(sorted(texts)), chance.choice(sorted(texts))
    texts[one], texts[other] = texts[other], texts[one]


def delete_file(texts, chance):
    if len(texts) > 2:
        del texts[chance.choice(sorted(texts))]


EDITS = (move_paragraph, change_word, delete_section, move_section, rename, swap_names, delete_file)


def edited(corpus, seed, times):
    """Return the texts of a corpus after so many edits, drawn by the seed."""
    chance, texts = random.Random(seed), marked(corpus)
    for _ in range(times):
        chance.choices(EDITS, (6, 12, 2, 2, 2, 2, 1))[0](texts, chance)
    return texts


def with_boilerplate(seed, documents, sections=4):
    """Return a corpus of which half of the paragraphs stand in most documents."""
    chance = random.Random(seed)
    return Corpus(
        Document(DocumentId(f"part-{number % 3}/page-{number:03}.md"), _page(chance, sections))
        for number in range(documents)
    )


def from_template(seed, documents):
    """Return a corpus whose pages differ in their titles and some words."""
    chance = random.Random(seed)
    template = _page(chance, 4)
    return Corpus(
        Document(DocumentId(f"page-{number:03}.md"), _filled(template, number, chance)) for number in range(documents)
    )


def _filled(template, number, chance):
    """Return the page of a product: the template with its title, and another word here and there."""
    words = list(re.finditer(r"\w+", template))
    text = template
    for word in sorted(chance.sample(words, 4), key=lambda word: -word.start()):
        text = text[: word.start()] + chance.choice(WORDS) + text[word.end() :]
    return f"# Product {number}\n\n{text}"


def _page(chance, sections):
    parts = [f"# {_sentence(chance, 2)}"]
    for _ in range(sections):
        parts.append(f"## {chance.choice(['Limits', 'Example', _sentence(chance, 2)])}")
        for _ in range(chance.randrange(1, 5)):
            own = " ".join(_sentence(chance, chance.randrange(4, 12)) for _ in range(chance.randrange(1, 4)))
            parts.append(chance.choice([own, own, chance.choice(BOILERPLATE), f"{own}\n{chance.choice(BOILERPLATE)}"]))
    return "\n\n".join(parts) + "\n"


def _sentence(chance, words):
    return " ".join(chance.choice(WORDS) for _ in range(words)).capitalize() + "."
