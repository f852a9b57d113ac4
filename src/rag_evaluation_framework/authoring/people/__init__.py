"""Annotation: a person labels questions, by choosing among passages that several retrievers find."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
