"""What stands now where a label stood."""

import re

from rag_evaluation_framework.data.anchors import Anchor
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.labelling.anchors import nearest, tells

_MOST_LONGER = 30  # characters, beyond twice the label


def in_its_place(anchor: Anchor, corpus: Corpus) -> CharacterSpan | None:
    """Return what is between the two contexts of a label in its document; None if that is not one short text.

    Args:
        anchor: The label, which stands nowhere any more.
        corpus: The documents as they are now.
    """
    if anchor.doc_id not in corpus or not (tells(anchor.before) and tells(anchor.after)):
        return None
    document = corpus[anchor.doc_id]
    between = re.compile(
        rf"{_form(nearest(anchor.before, before=True))}\s*"
        rf"(\S(?:.{{0,{2 * len(anchor.text) + _MOST_LONGER}}}?\S)??)\s*"
        rf"{_form(nearest(anchor.after, before=False))}",
        re.DOTALL,
    )
    places = [found.span(1) for found in between.finditer(document.content)]
    if len(places) != 1:
        return None
    ((start, end),) = places
    return CharacterSpan(document.id, start, end, document.content[start:end])


def _form(text: str) -> str:
    return r"\s+".join(map(re.escape, text.split()))
