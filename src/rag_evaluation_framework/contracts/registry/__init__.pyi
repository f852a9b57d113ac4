from .building import as_component as as_component
from .building import build as build
from .building import describe as describe
from .building import load as load
from .building import plain as plain
from .loading import KINDS as KINDS
from .loading import components as components
