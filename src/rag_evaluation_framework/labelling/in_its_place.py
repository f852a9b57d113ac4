"""What stands now where a label stood."""

import re
from itertools import islice

from rag_evaluation_framework.data.anchors import Anchor
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.labelling.telling import nearest, tells

_LONGEST = 200  # characters of a label; one that is longer tells enough to be looked for
_MOST_PLACES = 50  # of a context
_MOST_LONGER = 30  # characters, beyond twice the label


def in_its_place(anchor: Anchor, corpus: Corpus) -> CharacterSpan | None:
    """Return what is between the two contexts of a label in its document; None if that is not one short text.

    Args:
        anchor: The label, which stands nowhere any more.
        corpus: The documents as they are now.
    """
    if anchor.doc_id not in corpus or len(anchor.text) > _LONGEST:
        return None
    if not (tells(anchor.before) and tells(anchor.after)):
        return None
    document = corpus[anchor.doc_id]
    before = re.compile(_form(nearest(anchor.before, before=True)))
    begins = [found.end() for found in islice(before.finditer(document.content), _MOST_PLACES + 1)]
    if len(begins) > _MOST_PLACES:
        return None
    most = 2 * len(anchor.text) + _MOST_LONGER
    after = _form(nearest(anchor.after, before=False))
    between = re.compile(rf"\s*(\S(?:.{{0,{most}}}?\S)??)\s*{after}", re.DOTALL)
    places = [found.span(1) for begin in begins if (found := between.match(document.content, begin))]
    if len(places) != 1:
        return None
    ((start, end),) = places
    return CharacterSpan(document.id, start, end, document.content[start:end])


def _form(text: str) -> str:
    return r"\s+".join(map(re.escape, text.split()))
