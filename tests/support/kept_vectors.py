"""What an embedding cache keeps, by embedder."""

import json
from collections import Counter

from rag_evaluation_framework.base.notes import collect_notes


def kept_vectors(cache):
    """Return `(identity, number of vectors, dimension)` of each embedder; not of one whose record is damaged."""
    digests = cache.digests()
    counts = Counter(key[:16] for key in digests)
    with collect_notes():
        found = cache.read(key for key in digests if key.endswith("0" * 48))
    records = {key: json.loads(record) for key, record in found.items()}
    return sorted((each["identity"], counts[key[:16]] - 1, each["dimension"]) for key, each in records.items())
