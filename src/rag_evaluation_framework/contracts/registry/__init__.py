"""Components by name: one table for built-ins and plug-ins, loaded only when chosen.

A component is written `name`, `name:parameter=value,...` or, for your own, `module:attribute`; in files also as a
mapping with `type` and the parameters, in which components can be nested. Plug-ins announce themselves as entry points
of the group `rag_evaluation_framework.<kind>`.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
