"""Where texts occur in a corpus, found by looking at every character: the slow and obvious way."""

from itertools import islice


def occurrences(texts, text, number=None):
    """Yield the number of each of the texts and each place where it continues with a text."""
    for part in range(len(texts)) if number is None else [number]:
        for place in range(len(texts[part]) - len(text) + 1):
            if texts[part].startswith(text, place):
                yield part, place


def collapsed(text):
    """Return the characters of a text without those white spaces that follow another one, and where each stands."""
    kept = [
        (" " if character.isspace() else character, place)
        for place, character in enumerate(text)
        if not (character.isspace() and place and text[place - 1].isspace())
    ]
    return "".join(character for character, _ in kept), [place for _, place in kept]


def places(corpus, text, doc_id=None, limit=20):
    """Return document, first and last character of the first places of a text, as `TextLocator.places` has to."""
    ids = [document.id for document in corpus]
    if not text.strip() or (doc_id is not None and doc_id not in ids):
        return []
    contents = [document.content for document in corpus]
    number = None if doc_id is None else ids.index(doc_id)
    verbatim = [(ids[part], place, place + len(text)) for part, place in occurrences(contents, text, number)]
    if verbatim:
        return verbatim[:limit]
    spaced, views = " ".join(text.split()), [collapsed(content) for content in contents]
    found = islice(occurrences([view for view, _ in views], spaced, number), limit)
    return [(ids[part], views[part][1][place], views[part][1][place + len(spaced) - 1] + 1) for part, place in found]
