"""Metrics of retrieval: a family per file, all computed from the same judgements."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
