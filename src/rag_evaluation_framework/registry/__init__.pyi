from .building import as_component as as_component
from .building import build as build
from .building import load as load
from .records import describe as describe
from .records import plain as plain
from .table import KINDS as KINDS
from .table import components as components
