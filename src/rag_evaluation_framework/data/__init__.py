"""The data that flows: documents, spans, chunks, queries, hits, ground truth, rankings and scores."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
