"""Synthetic datasets: questions that a model asks about documents, and what is kept of them."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
