"""The door: objects and functions of other people as components, and what they return as plain values."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
