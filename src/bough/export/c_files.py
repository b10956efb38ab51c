"""The files of a function in C: header, source, and a program that tests it."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from bough.__about__ import __version__
from bough.export.c import C, body_lines, cut
from bough.export.names import plain, wrapped
from bough.export.task import Task, Values
from bough.export.writer import bare
from bough.program import VERDICT, Apply, Buffer, Program, evaluate, walk

__all__ = ["c_files"]

TEXT_WIDTH = 110
TESTED_STATES = 3  # that the self-test computes
TESTED = {"double": "1e-10", "float": "2e-3"}
"""By how much results of the self-test may differ from ours, beside the largest of them."""


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
    lines += [f"#define {upper}_SIZE_{v.name.upper()} {v.size}" for v in (*task.inputs, *task.outputs)]
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
    return lines + [f" *     [{k}] {plain(label)}" for k, label in enumerate(values.labels)]


def _bits(task: Task) -> str:
    ops = {x.op for x in walk(task.program.body) if isinstance(x, Apply)}
    text = "No operation may be fused or reordered: compile with -std=c99 or -ffp-contract=off, without -ffast-math."
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
    program, real = task.program, language.real
    parts = cut(program, language)
    lines = [f"/* {plain(task.title)}: see {task.name}.h. */", f'#include "{task.name}.h"', "", "#include <math.h>", ""]
    lines += ["#if !defined(__GNUC__) || defined(__clang__)", "#pragma STDC FP_CONTRACT OFF", "#endif", ""]
    lines += _instructions(task, language)
    for b in program.of_role("table"):
        lines += [*language.table(b), ""]
    pieces = [body_lines(program, language, part) for part in parts]
    clear = [line for b in program.buffers for line in _cleared(b, language)]
    judged = any(b.name == VERDICT for b in program.of_role("output"))
    first = [f"    {real} verdict[1] = {{0}};"] if judged else []
    last = ["    return (int)verdict[0];" if judged else "    return 0;"]
    if len(pieces) == 1:
        inside = pieces[0]
    else:
        taken = [f"const {real} *restrict {language.names[v.name]}" for v in task.inputs]
        taken += [f"{real} *restrict {language.names[b.name]}" for b in program.of_role("output")]
        taken += [f"{real} *restrict work"] if language.work else []
        names = [a.rpartition(" ")[2] for a in taken]
        for k, piece in enumerate(pieces):
            unused = [f"    (void){name};" for name in names if not any(f"{name}[" in line for line in piece)]
            lines += [f"static void {task.name}_part_{k + 1}({', '.join(taken)})", "{", *unused, *piece, "}", ""]
        inside = [f"    {task.name}_part_{k + 1}({', '.join(names)});" for k in range(len(pieces))]
    lines += [_prototype(task, language), "{"]
    if len(pieces) == 1:
        names = [language.names[v.name] for v in task.inputs]
        lines += [f"    (void){name};" for name in names if not any(f"{name}[" in line for line in inside)]
    return "\n".join([*lines, *first, *clear, *inside, *last, "}", ""])


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
    rng = random.Random(0)
    states = [{v.name: _sample(v, rng) for v in task.inputs} for _ in range(TESTED_STATES)]
    results = [evaluate(program, state) for state in states]
    verdicts = [str(int(r.get(VERDICT, [0.0])[0])) for r in results]
    real, upper, names = language.real, task.name.upper(), language.names
    lines = [
        f"/* Self-test of {plain(task.title)}: prints ok and ends with 0, or says what differs and ends with 1. */"
    ]
    lines += [
        "#include <math.h>",
        "#include <stdio.h>",
        "",
        f'#include "{task.name}.h"',
        "",
        f"#define TESTED_STATES {TESTED_STATES}",
    ]
    for v in task.inputs:
        lines += _rows(language, f"const {real} given_{names[v.name]}", v, [s[v.name] for s in states])
    for v in task.outputs:
        lines += _rows(language, f"const {real} expected_{names[v.name]}", v, [r[v.name] for r in results])
        lines.append(f"static {real} got_{names[v.name]}[{max(v.size, 1)}];")
    lines.append(f"static const int expected_verdict[TESTED_STATES] = {{{', '.join(verdicts)}}};")
    lines += [f"static {real} work[{upper}_SIZE_WORK];"] if language.work else []
    lines += ["", *_COMPARISON.format(real=real).splitlines(), "", "int main(void)", "{"]
    lines += ["    int wrong = 0;", "    for (int state = 0; state < TESTED_STATES; ++state) {"]
    given = [f"given_{names[v.name]}[state]" for v in task.inputs] + [f"got_{names[v.name]}" for v in task.outputs]
    lines.append(
        f"        const int verdict = {task.name}({', '.join([*given, *(['work'] if language.work else [])])});"
    )
    lines += ["        if (verdict != expected_verdict[state]) {"]
    lines.append('            printf("state %d: verdict %d, expected %d\\n", state, verdict, expected_verdict[state]);')
    lines += ["            wrong = 1;", "        } else if (verdict == 0) {"]
    for v in task.outputs:
        name = names[v.name]
        arguments = f'state, "{name}", got_{name}, expected_{name}[state], {v.size}, {TESTED[real]}'
        lines.append(f"            wrong |= differs({arguments});")
    lines += [
        "        }",
        "    }",
        f'    puts(wrong ? "{task.name}: wrong" : "{task.name}: ok");',
        "    return wrong;",
        "}",
    ]
    return "\n".join([*lines, ""])


_COMPARISON = """\
static int differs(int state, const char *name, const {real} *got, const {real} *expected, int size, double within)
{{
    double largest = 1e-3, error = 0;
    for (int k = 0; k < size; ++k) {{
        const double off = fabs((double)got[k] - (double)expected[k]);
        largest = fmax(largest, fabs((double)expected[k]));
        error = off <= error ? error : off; /* NaN counts */
    }}
    if (error <= within * largest) return 0;
    printf("state %d: %s differs by %g\\n", state, name, error);
    return 1;
}}"""


def _rows(language: C, head: str, values: Values, rows: Sequence[Sequence[float]]) -> list[str]:
    numbers = (", ".join(bare(language.constant(x, "float")) for x in row) or "0" for row in rows)
    return [f"static {head}[TESTED_STATES][{max(values.size, 1)}] = {{", *(f"    {{{row}}}," for row in numbers), "};"]


def _sample(values: Values, rng: random.Random) -> list[float]:
    """Numbers for one state: what the model has there, or between -1 and 1, with quaternions of unit length."""
    if values.default:
        return list(values.default)
    numbers = [round(rng.uniform(-1.0, 1.0), 4) for _ in range(values.size)]
    for k in values.quaternions:
        length = math.sqrt(sum(x * x for x in numbers[k : k + 4]))
        numbers[k : k + 4] = [x / length for x in numbers[k : k + 4]]
    return numbers
