from .characters import flat as flat
from .formats import markup_of as markup_of
from .markup import Markup as Markup
from .markup import effects_begun as effects_begun
from .markup import effects_of as effects_of
from .markup import struck_out as struck_out
