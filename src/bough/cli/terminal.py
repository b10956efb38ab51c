"""What a terminal cannot show, said in ASCII: lines, blocks, Greek letters and indices."""

from __future__ import annotations

import codecs
import io
import sys

__all__ = ["prepare"]

INSTEAD = str.maketrans(
    {
        **dict.fromkeys("─═", "-"),
        **dict.fromkeys("┌┐└┘├┤┬┴┼", "+"),
        **dict.fromkeys("│", "|"),
        **{"█": "#", "▀": "'", "▄": ".", "▒": "=", "░": ":"},
        **dict(zip("₀₁₂₃ᵀ", "0123T", strict=True)),
        **{"²": "^2", "³": "^3", "×": "x", "·": ".", "µ": "u", "α": "a", "…": "..", "≤": "<", "⁻": "-"},
    }
)


def prepare() -> None:
    """Let the streams of this process replace what their encoding lacks, sign by sign, instead of failing."""
    codecs.register_error("bough", _replaced)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="bough")


def _replaced(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    lacking = error.object[error.start : error.end].translate(INSTEAD)
    return lacking.encode("ascii", "replace").decode("ascii"), error.end
