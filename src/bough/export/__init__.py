"""Programs as sources for elsewhere: C, and Python on NumPy, SymPy and CasADi, and LaTeX. It knows no robots.

A language is a table of rules, one for each operation, and a few forms of statements (`writer.Language`); what walks a
program is written once. Texts from models pass `names` on their way into a source, where they are made harmless.
"""

from bough.export.c import C
from bough.export.c_files import c_files
from bough.export.latex import latex_file
from bough.export.names import identifier, is_identifier, plain
from bough.export.python import LIBRARIES, python_file
from bough.export.task import Sources, Task, Values

__all__ = [
    "LIBRARIES", "C", "Sources", "Task", "Values",
    "c_files", "identifier", "is_identifier", "latex_file", "plain", "python_file",
]  # fmt: skip
