from .main import app as app
