"""Experiments: configuration, retrieval and scoring, from a dataset and a retriever to a result."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
