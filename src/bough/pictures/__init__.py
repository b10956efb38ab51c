"""Pictures of models without a screen: PNG, GIF and MP4, by a small renderer of bough's own on NumPy.

`image` gives the picture of a model as an array, `save` writes a picture or a motion to a file. A `bough.Trajectory`
does the same with its own motion: ``trajectory.save("run.gif")``. `page` tells all of a model in HTML.
"""

from bough.pictures.files import save
from bough.pictures.info_page import page
from bough.pictures.pictures import image
from bough.rooms import furnish

__all__ = ["image", "page", "save"]

furnish(__name__)
