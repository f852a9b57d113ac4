from .readers import Reader as Reader
from .readers import Reading as Reading
from .readers import Source as Source
