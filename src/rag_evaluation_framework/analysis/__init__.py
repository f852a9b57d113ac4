"""Analysis of results: how runs differ, and what of it is chance."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
