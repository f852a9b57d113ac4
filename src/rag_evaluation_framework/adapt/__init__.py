"""The door: objects and functions of other people as components, what they return as plain values, and questions."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
