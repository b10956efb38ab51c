"""Pictures of models without a screen: PNG, GIF and MP4, by bough's own renderer on NumPy.

`image` returns a picture of a model as an array, and `save` writes a picture or a motion to a file. A
`bough.Trajectory` can also save itself: ``trajectory.save("run.gif")``. `page` makes an HTML report of a model.
"""

from bough.pictures.files import save
from bough.pictures.info_page import page
from bough.pictures.pictures import image
from bough.rooms import furnish

__all__ = ["image", "page", "save"]

furnish(__name__)
