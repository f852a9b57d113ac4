"""Filters of proposed questions: relevance, near-duplicates, copied wording; each tells why, with the figure."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
