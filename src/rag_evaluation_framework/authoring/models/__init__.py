"""Synthetic datasets: a language model asks and quotes, code verifies, and what cannot be verified is rejected."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
