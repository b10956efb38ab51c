"""The files of a function in C: header, source, and a program that tests it."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from contextlib import suppress

from bough.__about__ import __version__
from bough.errors import SaveError
from bough.export.c import C, body_lines, cut
from bough.export.names import plain, wrapped
from bough.export.task import Task, Values
from bough.export.writer import bare
from bough.program import VERDICT, Apply, Buffer, Program, evaluate, walk

__all__ = ["c_files"]

TEXT_WIDTH = 110
TESTED_STATES = 3  # that the self-test computes
TESTED = {"double": 1e-10, "float": 2e-3}
"""By how much results of the self-test may differ from ours, beside the largest of them, or 1."""


def c_files(task: Task, plain_program: Program) -> dict[str, str]:
    """The files by name; `plain_program` is the program before multiply-adds, for the numbers of the self-test."""
    language = C(task.program, task.real, task.name)
    source = _source(task, language)
    return {
        f"{task.name}.h": _header(task, language),
        f"{task.name}.c": source,
        f"{task.name}_test.c": _test(task, language, plain_program),
    }


# ---- header ----------------------------------------------------------------------------------------------------------


def _header(task: Task, language: C) -> str:
    guard, upper = f"{task.name.upper()}_H", task.name.upper()
    lines = [f"/* {plain(task.title)}", " *", *_said(f"Written by bough {__version__}; {task.real} precision.")]
    for note in task.notes:
        lines += _said(note)
    lines += [" *", *_said("Arrays lie row by row and may not overlap; SI units (m, kg, s, rad, N).")]
    for values, way in (*((v, "in") for v in task.inputs), *((v, "out") for v in task.outputs)):
        lines += [" *", *_array(language, values, way)]
    if language.work:
        text = f"work[{language.work}]: memory for intermediate results, of any content; one for each thread."
        lines += [" *", *_said(text)]
    lines += [" *", *_said("Returns 0, or the sum of what is wrong with the state; results are then of no use:")]
    lines += [line for bit, text in (task.verdicts or {}).items() for line in _said(f"{bit:3}: {text}")]
    lines += [" *", *_said(_bits(task)), " */"]
    lines += [f"#ifndef {guard}", f"#define {guard}", ""]
    lines += [f"#define {upper}_SIZE_{language.names[v.name].upper()} {v.size}" for v in (*task.inputs, *task.outputs)]
    lines += [f"#define {upper}_SIZE_WORK {language.work}"] if language.work else []
    lines += ["", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    lines += [f"{_prototype(task, language, header=True)};", "", "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""]
    return "\n".join(lines)


def _said(text: str, indent: str = "") -> list[str]:
    return [f" * {indent if k else ''}{line}" for k, line in enumerate(wrapped(plain(text, 100_000), TEXT_WIDTH))]


def _array(language: C, values: Values, way: str) -> list[str]:
    shape = " x ".join(map(str, values.shape)) or "1"
    head = f"{language.names[values.name]}[{values.size}], {way}, {shape}"
    lines = _said(f"{head}: {values.meaning}" if values.meaning else head, "    ")
    numbers = [f", {x:g} in the model" for x in values.default] or [""] * values.size
    return lines + [f" *     [{k}] {plain(label)}{numbers[k]}" for k, label in enumerate(values.labels)]


def _bits(task: Task) -> str:
    ops = {x.op for x in walk(task.program.body) if isinstance(x, Apply)}
    text = "No operation may be fused or reordered; the source says so to compilers, unless -ffast-math overrules it."
    if "fma" in ops:
        text += " Multiply-adds are fma(), which is slow on processors that have none (on x86-64: -mfma has it)."
    text += " Results are those of bough to the last bit, on processors with multiply-adds"
    turning = " and ".join(sorted(ops & {"sin", "cos", "atan2"}))
    return f"{text}, and wherever {turning} of libm give the bits of bough's own." if turning else f"{text}."


def _prototype(task: Task, language: C, header: bool = False) -> str:
    """The function's head; nothing overlaps, which C++ has no word for."""
    real, names = language.real, language.names
    once = "" if header else " restrict"
    given = [f"const {real} *{once.strip()}{' ' if once else ''}{names[v.name]}" for v in task.inputs]
    given += [f"{real} *{once.strip()}{' ' if once else ''}{names[v.name]}" for v in task.outputs]
    if language.work:
        given.append(f"{real} *{once.strip()}{' ' if once else ''}work")
    return f"int {task.name}({', '.join(given) or 'void'})"


# ---- source ----------------------------------------------------------------------------------------------------------


def _source(task: Task, language: C) -> str:
    program, real, names = task.program, language.real, language.names
    pieces = [body_lines(program, language, part) for part in cut(program, language)]
    lines = [f"/* {plain(task.title)}: see {task.name}.h. */", f'#include "{task.name}.h"', "", "#include <math.h>", ""]
    lines += ["#if defined(__GNUC__) && !defined(__clang__)", '#pragma GCC optimize ("fp-contract=off")', "#else"]
    lines += ["#pragma STDC FP_CONTRACT OFF", "#endif", ""]
    lines += _instructions(task, language)
    for b in program.of_role("table"):
        lines += [*language.table(b), ""]
    judged = VERDICT in names
    inside = pieces[0]
    if len(pieces) > 1:
        taken = [f"const {real} *restrict {names[v.name]}" for v in task.inputs]
        taken += [f"{real} *restrict {names[b.name]}" for b in program.of_role("output")]
        taken += [f"{real} *restrict work"] if language.work else []
        passed = ", ".join(a.rpartition(" ")[2] for a in taken)
        for k, piece in enumerate(pieces):
            lines += _function(f"static void {task.name}_part_{k + 1}({', '.join(taken)})", piece)
        inside = [f"    {task.name}_part_{k + 1}({passed});" for k in range(len(pieces))]
    first = [f"    {real} verdict[1] = {{0}};"] if judged else []
    first += [line for b in program.buffers for line in _cleared(b, language)]
    last = "    return (int)verdict[0];" if judged else "    return 0;"
    return "\n".join([*lines, *_function(_prototype(task, language), [*first, *inside, last])])


def _function(head: str, lines: Sequence[str]) -> list[str]:
    """A whole function; what it is given and does not need is said, so that no compiler warns."""
    read = set(re.findall(r"\b[A-Za-z]\w*", "\n".join(lines)))
    given = re.findall(r"(\w+)[,)]", head.partition("(")[2])
    unused = [f"    (void){name};" for name in given if name not in read and name != "void"]
    return [head, "{", *unused, *lines, "}", ""]


def _instructions(task: Task, language: C) -> list[str]:
    """What keeps multiply-adds and roots instructions where gcc and clang are told to know no library."""
    ops = {x.op for x in walk(task.program.body) if isinstance(x, Apply)}
    names = [f"{name}{language.suffix}" for name in ("fma", "sqrt") if name in ops]
    if not names:
        return []
    lines = ["#if defined(__GNUC__) && !__STDC_HOSTED__", *(f"#define {name} __builtin_{name}" for name in names)]
    return [*lines, "#endif", ""]


def _cleared(b: Buffer, language: C) -> list[str]:
    """What sets a buffer to zero at the start."""
    if b.role not in ("output", "scratch") or not b.cleared or not b.size or b.name == VERDICT:
        return []
    return [f"    for (int k = 0; k < {b.size}; ++k) {language.entry(b.name, 'k')} = 0;"]


# ---- self-test -------------------------------------------------------------------------------------------------------


def _test(task: Task, language: C, program: Program) -> str:
    """A program with some states and what bough makes of them, which ends with 0 if the results are the same."""
    states, results = _samples(task, program)
    real, names = language.real, language.names
    arrays = []
    for v in task.inputs:
        arrays += _rows(language, f"const {real} given_{names[v.name]}", v, [s[v.name] for s in states])
    for v in task.outputs:
        arrays += _rows(language, f"const {real} expected_{names[v.name]}", v, [r[v.name] for r in results])
        arrays.append(f"static {real} got_{names[v.name]}[{max(v.size, 1)}];")
    arrays += [f"static {real} work[{task.name.upper()}_SIZE_WORK];"] if language.work else []
    largest = [max(map(abs, (1.0, *(x for v in task.outputs for x in r[v.name])))) for r in results]
    given = [f"given_{names[v.name]}[k]" for v in task.inputs] + [f"got_{names[v.name]}" for v in task.outputs]
    compared = [f'differs(k, "{n}", got_{n}, expected_{n}[k], {v.size})' for v in task.outputs for n in [names[v.name]]]
    return _TEST.format(
        title=plain(task.title),
        name=task.name,
        real=real,
        states=len(states),
        arrays="\n".join(arrays),
        verdicts=", ".join(str(int(r.get(VERDICT, [0.0])[0])) for r in results),
        within=", ".join(f"{TESTED[real] * x:.3g}" for x in largest),
        call=f"{task.name}({', '.join([*given, *(['work'] if language.work else [])])})",
        compared="\n".join(f"            wrong |= {call};" for call in compared),
    )


_TEST = """\
/* Self-test of {title}: prints ok and ends with 0, or says what differs and ends with 1. */
#include <math.h>
#include <stdio.h>

#include "{name}.h"

#define STATES {states}
{arrays}
static const int expected_verdict[STATES] = {{{verdicts}}};
static const double within[STATES] = {{{within}}}; /* some roundings beside the largest result */

static int differs(int state, const char *name, const {real} *got, const {real} *expected, int size)
{{
    for (int k = 0; k < size; ++k) {{
        const double error = fabs((double)got[k] - (double)expected[k]);
        if (error <= within[state]) continue;
        printf("state %d: %s[%d] differs by %g\\n", state, name, k, error);
        return 1;
    }}
    return 0;
}}

int main(void)
{{
    int wrong = 0;
    for (int k = 0; k < STATES; ++k) {{
        const int verdict = {call};
        if (verdict != expected_verdict[k]) {{
            printf("state %d: verdict %d, expected %d\\n", k, verdict, expected_verdict[k]);
            wrong = 1;
        }} else if (verdict == 0) {{
{compared}
        }}
    }}
    puts(wrong ? "{name}: wrong" : "{name}: ok");
    return wrong;
}}
"""


def _samples(task: Task, program: Program) -> tuple[list[dict[str, list[float]]], list[dict[str, list[float]]]]:
    """States, and what the program makes of them; those in which something is divided by zero are left out."""
    rng = random.Random(0)
    states, results = [], []
    for _ in range(10 * TESTED_STATES):
        state = {v.name: _sample(v, rng) for v in task.inputs}
        with suppress(ArithmeticError, ValueError):
            results.append(evaluate(program, state))
            states.append(state)
        if len(states) == TESTED_STATES:
            return states, results
    raise SaveError(f"{task.title}: no state was found for the self-test in which it can be computed")


def _rows(language: C, head: str, values: Values, rows: Sequence[Sequence[float]]) -> list[str]:
    numbers = (", ".join(bare(language.constant(x, "float")) for x in row) or "0" for row in rows)
    return [f"static {head}[STATES][{max(values.size, 1)}] = {{", *(f"    {{{row}}}," for row in numbers), "};"]


def _sample(values: Values, rng: random.Random) -> list[float]:
    """Numbers for one state: what the model has there, or between -1 and 1, with quaternions of unit length."""
    if values.default:
        return list(values.default)
    numbers = [round(rng.uniform(-1.0, 1.0), 4) for _ in range(values.size)]
    for k in values.quaternions:
        length = math.sqrt(sum(x * x for x in numbers[k : k + 4]))
        numbers[k : k + 4] = [x / length for x in numbers[k : k + 4]]
    return numbers
