"""Texts that come from models, made harmless before they stand in a source: names, comments, symbols.

A model file may call its joints anything. What passes here cannot end a comment or a string, begin a statement or
splice lines in any of the languages, and is ASCII.
"""

from __future__ import annotations

import keyword
import re

__all__ = ["LANGUAGE_WORDS", "identifier", "in_latex", "is_identifier", "plain", "wrapped"]

MOST_LETTERS = 60
"""Letters of a name that are kept in an identifier."""

MOST_SAID = 200
"""Letters of a text from a model that are kept in a comment."""

_WORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool true false asm
typeof class delete new this template namespace operator private public using virtual main
fma fmaf sin sinf cos cosf sqrt sqrtf atan2 atan2f work verdict y0 y1 yn j0 j1 jn
np sympy casadi batch range reversed symbols function
"""
LANGUAGE_WORDS = frozenset((*_WORDS.split(), *keyword.kwlist))
"""What a variable or a function may not be called in some language that we write."""

SPELLED = {"²": "^2", "³": "^3", "·": " ", "×": "x", "…": "...", "⁻¹": "^-1", "ᵀ": "^T", "µ": "u", "₀": "0", "–": "-"}
HARMFUL = frozenset('*\\?"`')  # ends of comments and strings, spliced lines, trigraphs

LATEX = {
    **{c: f"\\{c}" for c in "{}_#&%$"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"},  # other signs in the usual font
    **{c: f"{{{c}}}" for c in "-[]'`!"},
}


def plain(text: str, most: int = MOST_SAID) -> str:
    """A text of one line as it may stand in a comment or string of any language.

    >>> plain("arm */ system(0) /* ²")
    'arm <U+002A>/ system(0) /<U+002A> ^2'
    """
    text = text if len(text) <= most else text[:most] + "..."
    for sign, spelled in SPELLED.items():
        text = text.replace(sign, spelled)
    return "".join(c if 32 <= ord(c) < 127 and c not in HARMFUL else f"<U+{ord(c):04X}>" for c in text)


def wrapped(text: str, width: int) -> list[str]:
    """A text that `plain` made, cut into lines between words."""
    lines = [""]
    for word in text.split(" "):
        if len(lines[-1]) + len(word) >= width and lines[-1]:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


def identifier(text: str, otherwise: str = "model") -> str:
    """A name that every language takes, as like to a text as can be.

    >>> identifier("my arm/7-dof"), identifier("7-dof"), identifier("腕"), identifier("for")
    ('my_arm_7_dof', 'model_7_dof', 'model', 'for_')
    """
    name = re.sub(r"[^A-Za-z0-9]+", "_", text[: 4 * MOST_LETTERS]).strip("_")[:MOST_LETTERS]
    if not name:
        name = otherwise
    if name[0].isdigit():
        name = f"{otherwise}_{name}"
    return f"{name}_" if name in LANGUAGE_WORDS else name


def is_identifier(text: str) -> bool:
    """Whether a text is a name that every language takes for a function."""
    return bool(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", text, re.ASCII)) and text not in LANGUAGE_WORDS


def in_latex(text: str) -> str:
    r"""A text as it may stand in LaTeX, between words or in \text{}.

    >>> print(in_latex("arm_1 \\input{x}"))
    arm\_1 \textless{}U+005C\textgreater{}input\{x\}
    """
    escaped = "".join(LATEX.get(c, c) for c in plain(text))
    return re.sub(r"\\textasciicircum{}(\d)", r"\\textsuperscript{\1}", escaped)
