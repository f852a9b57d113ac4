from .files import read_text as read_text
from .files import write_new as write_new
from .notes import collected as collected
from .notes import note as note
from .optional import require as require
from .strict_json import parse_json as parse_json
from .strict_yaml import parse_yaml as parse_yaml
