from .building import as_component as as_component
from .building import build as build
from .building import load as load
from .loading import KINDS as KINDS
from .loading import components as components
from .records import describe as describe
from .records import plain as plain
