"""Sweeps: many configurations for little more than one, and what they conclude."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
