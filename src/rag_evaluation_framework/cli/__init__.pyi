from .commands import app as app
