"""Rankings and relevance judgements in files: TREC, BEIR, JSON and hits as JSONL."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
