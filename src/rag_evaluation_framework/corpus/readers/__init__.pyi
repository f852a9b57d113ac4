from .reader import Reader as Reader
from .reader import Reading as Reading
from .reader import Source as Source
from .reader import read_file as read_file
