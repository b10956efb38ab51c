"""Texts that come from models, made harmless before they stand in a source: names, comments, symbols.

A model file may call its joints anything. What passes here cannot end a comment or a string, begin a statement or
splice lines in any of the languages, and is ASCII.
"""

from __future__ import annotations

import keyword
import re

__all__ = ["LANGUAGE_WORDS", "LIBRARY_NAMES", "identifier", "in_latex", "is_identifier", "plain", "wrapped"]

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

_OF_NUMBERS = """
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax fmin
fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter
nexttoward pow remainder remquo rint round scalbln scalbn sin sinh sqrt tan tanh tgamma trunc
"""
_OTHERS = """
abort abs atexit atof atoi atol atoll bsearch calloc clearerr div exit fclose feof ferror fflush fgetc fgetpos fgets
fopen fprintf fputc fputs fread free freopen fscanf fseek fsetpos ftell fwrite getc getchar getenv gets labs ldiv llabs
lldiv malloc memchr memcmp memcpy memmove memset perror printf putc putchar puts qsort rand realloc remove rename rewind
scanf setbuf setvbuf snprintf sprintf srand sscanf stderr stdin stdout strcat strchr strcmp strcpy strcspn strerror
strlen strncat strncmp strncpy strpbrk strrchr strspn strstr strtod strtof strtok strtol strtold strtoll strtoul
strtoull strxfrm system tmpfile tmpnam ungetc vfprintf vfscanf vprintf vscanf vsnprintf vsprintf vsscanf
BUFSIZ EOF FILE FILENAME_MAX FOPEN_MAX HUGE_VAL HUGE_VALF HUGE_VALL INFINITY L_tmpnam NAN NULL SEEK_CUR SEEK_END
SEEK_SET TMP_MAX double_t float_t fpclassify fpos_t gamma isfinite isgreater isgreaterequal isinf isless islessequal
islessgreater isnan isnormal isunordered math_errhandling signbit signgam size_t va_list
"""
LIBRARY_NAMES = frozenset((*(f"{x}{kind}" for x in _OF_NUMBERS.split() for kind in ("", "f", "l")), *_OTHERS.split()))
"""What a function may not be called because the standard libraries of C have it, or headers that we include."""

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
    taken = text in LANGUAGE_WORDS or text in LIBRARY_NAMES
    return not taken and bool(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", text, re.ASCII))


def in_latex(text: str) -> str:
    r"""A text as it may stand in LaTeX, between words or in \text{}.

    >>> print(in_latex("arm_1 \\input{x}"))
    arm\_1 \textless{}U+005C\textgreater{}input\{x\}
    """
    escaped = "".join(LATEX.get(c, c) for c in plain(text))
    return re.sub(r"\\textasciicircum{}(\d)", r"\\textsuperscript{\1}", escaped)
