from .handbook import load_handbook as load_handbook
