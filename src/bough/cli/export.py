"""`bough export`: write a function of a model in C, NumPy, SymPy, CasADi or LaTeX."""

from __future__ import annotations

import argparse
import sys
import threading
from pathlib import Path
from typing import Any

import bough
from bough.cli.models import add_model, chosen_model
from bough.cli.terminal import say
from bough.errors import SaveError, printable

__all__ = ["register"]

TELL_AFTER = 3.0
"""Time (s) after which somebody who waits for formulas is told so."""


def register(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "export",
        help="write a function of a model in C, NumPy, SymPy, CasADi or LaTeX",
        description="Write a function of a model as source code that does not need bough: C99 (header, source and "
        "self-test; no allocation, no library except libm), a Python file on NumPy, SymPy or CasADi, or LaTeX.",
        epilog="For example: bough export arm rnea --to c; bough export pendulum.urdf rnea --to latex "
        "--parameter 'mass of rod' --parameter gravity --symbol 'mass of rod=m' --symbol gravity=g",
    )
    add_model(parser)
    parser.add_argument("algorithm", metavar="ALGORITHM", help="rnea, crba, aba, forward_dynamics, jacobian, ...")
    parser.add_argument(
        "--to", metavar="FORM", required=True, help="language: c, numpy, sympy, casadi or latex (small mechanisms)"
    )
    parser.add_argument(
        "--out", metavar="FOLDER", type=Path, default=Path(), help="folder for the files (default: this folder)"
    )
    parser.add_argument("--force", action="store_true", help="replace files that exist")
    parser.add_argument("--name", metavar="NAME", help="name of the function (default: MODEL_ALGORITHM)")
    group = parser.add_argument_group("inputs")
    group.add_argument(
        "--parameter",
        metavar="NAME",
        action="append",
        default=[],
        help="a number of the model that becomes an input: 'mass of hand', 'position of elbow', gravity, ... "
        "(may be repeated)",
    )
    group.add_argument(
        "--given", metavar="INPUT", action="append", default=[], help="add an optional input, such as f_ext"
    )
    group.add_argument("--frame", metavar="NAME", help="frame or body, for kinematics")
    group.add_argument("--reference", metavar="NAME", default="LOCAL", help="LOCAL, WORLD or LOCAL_WORLD_ALIGNED")
    group = parser.add_argument_group("form of the code")
    group.add_argument("--float32", action="store_true", help="C in float instead of double")
    group.add_argument("--no-multiply-add", action="store_true", help="C without fma(), for processors without it")
    loops = group.add_mutually_exclusive_group()
    loops.add_argument(
        "--rolled", action="store_true", help="loop over bodies: code size does not grow with their number"
    )
    loops.add_argument("--unrolled", action="store_true", help="no loops over bodies: faster code")
    group.add_argument(
        "--symbol",
        metavar="NAME=LETTER",
        type=_symbol,
        action="append",
        default=[],
        help="for LaTeX: the letter of a parameter or of q, such as 'mass of hand=m_1' or q=theta (may be repeated)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Write the files and print their names."""
    model = chosen_model(options)
    if options.symbol and options.to != "latex":
        raise SaveError(
            f"--symbol is given, and only LaTeX has letters for parameters; expected none for --to {options.to}"
        )
    function = bough.function(
        options.algorithm, model, frames=options.frame, reference=options.reference, parameters=options.parameter
    )
    waiting = threading.Timer(TELL_AFTER, say, ["simplifying: this may take a minute"], {"file": sys.stderr})
    if options.to == "latex":
        waiting.start()
    try:
        sources = function.export(
            options.to,
            *options.given,
            name=options.name,
            dtype="float32" if options.float32 else "float64",
            rolled=True if options.rolled else False if options.unrolled else None,
            multiply_add=not options.no_multiply_add,
            symbols=dict(options.symbol),
        )
    finally:
        waiting.cancel()
    try:
        paths = sources.save(options.out, replace=options.force)
    except SaveError as error:
        raise SaveError(str(error).replace("is replaced only if told so", "--force replaces it")) from None
    for path in paths:
        say(f"written: {printable(str(path))}")
    if options.to == "c":
        header, source, test = (path.name for path in paths)
        say(f"test it: cc -std=c99 -O2 {source} {test} -lm && ./a.out; {header} documents the function")


def _symbol(text: str) -> tuple[str, str]:
    name, sign, letter = text.rpartition("=")
    if not sign:
        raise argparse.ArgumentTypeError(f"{text!r}, expected NAME=LETTER, as in 'mass of hand=m_1'")
    return name, letter
