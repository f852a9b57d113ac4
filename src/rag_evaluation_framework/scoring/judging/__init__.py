"""Judging: rankings compared with the ground truth, once for all metrics and cutoffs."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
