from .formats import markup_of as markup_of
from .markup import Markup as Markup
