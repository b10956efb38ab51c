"""A small part of Python as source of LLVM: whole numbers, memory, loops and calls, for what must run without Python.

`native_source` turns the functions of a module into LLVM source. Every value is a 64-bit integer, addresses are such
numbers too, and a name in capitals is a constant of the module. That is enough for a launcher and a pool of threads,
which read arrays in place and wake workers, and which nobody needs a C compiler to install.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Mapping, Sequence
from types import ModuleType

from bough.backends.native.primitives import PYTHON
from bough.errors import ProgramError

__all__ = ["native_source"]

BINARY = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.FloorDiv: "sdiv", ast.BitAnd: "and", ast.BitOr: "or"}
COMPARE = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "slt", ast.LtE: "sle", ast.Gt: "sgt", ast.GtE: "sge"}


def native_source(modules: Sequence[ModuleType], public: Sequence[str], pausing: str = "") -> str:
    """LLVM source of all functions of some modules.

    Parameters
    ----------
    modules
        Where the functions are. They may call each other, and the C functions of `PYTHON`.
    public
        Names that can be found once the code is loaded; all others are internal.
    pausing
        The intrinsic of LLVM for `pause`, with its arguments.
    """
    functions: dict[str, tuple[ast.FunctionDef, dict[str, int]]] = {}
    for module in modules:
        constants = {k: v for k, v in vars(module).items() if k.isupper() and isinstance(v, int)}
        tree = ast.parse(inspect.getsource(module))
        functions |= {x.name: (x, constants) for x in tree.body if isinstance(x, ast.FunctionDef)}
    arity = {name: len(x.args.args) for name, (x, _) in functions.items()}
    parts: list[str] = []
    used: dict[str, int] = {}
    for name, (definition, constants) in functions.items():
        writer = _Writer(definition, constants, arity, pausing)
        parts.append(writer.source("" if name in public else "internal "))
        used |= writer.outside
    declared = [f"declare i64 @{name}({', '.join(['i64'] * count)})" for name, count in used.items()]
    declared.append("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
    if pausing:
        declared.append(f"declare void {pausing.replace('i32 1', 'i32')}")
    return "\n".join([*declared, *parts]) + "\n"


class _Writer:
    """Writes one function; variables live in memory until LLVM puts them into registers."""

    def __init__(
        self,
        definition: ast.FunctionDef,
        constants: Mapping[str, int],
        arity: Mapping[str, int],
        pausing: str,
    ) -> None:
        self._definition, self._constants, self._arity = definition, constants, arity
        self._pausing = pausing
        self.outside: dict[str, int] = {}
        self._lines: list[str] = []
        self._variables: dict[str, None] = {}
        self._stack: list[str] = []
        self._count = 0
        self._open = True  # whether the current block still needs an end

    def source(self, linkage: str) -> str:
        """The whole function."""
        names = [a.arg for a in self._definition.args.args]
        self._variables.update(dict.fromkeys(names))
        self._body(self._definition.body)
        if self._open:
            self._line("ret i64 0")
        arguments = ", ".join(f"i64 %arg.{name}" for name in names)
        head = [f"  %{name} = alloca i64" for name in self._variables] + self._stack
        head += [f"  store i64 %arg.{name}, ptr %{name}" for name in names]
        body = [*head, "  br label %start", "start:", *self._lines]
        return f"define {linkage}i64 @{self._definition.name}({arguments}) {{\n" + "\n".join(body) + "\n}"

    # -- lines -----------------------------------------------------------------------------------------------------

    def _line(self, text: str) -> None:
        self._lines.append("  " + text)

    def _new(self, text: str) -> str:
        self._count += 1
        self._line(f"%.{self._count} = {text}")
        return f"%.{self._count}"

    def _label(self) -> str:
        self._count += 1
        return f"l{self._count}"

    def _start(self, label: str) -> None:
        if self._open:
            self._line(f"br label %{label}")
        self._lines.append(f"{label}:")
        self._open = True

    def _end(self, text: str) -> None:
        if self._open:
            self._line(text)
        self._open = False

    def _pointer(self, address: str) -> str:
        return self._new(f"inttoptr i64 {address} to ptr")

    # -- statements ------------------------------------------------------------------------------------------------

    def _body(self, statements: Sequence[ast.stmt]) -> None:
        for x in statements:
            if self._open:
                self._statement(x)

    def _statement(self, x: ast.stmt) -> None:
        if isinstance(x, ast.Assign) and isinstance(x.targets[0], ast.Name):
            self._assign(x.targets[0].id, self._value(x.value))
        elif isinstance(x, ast.AugAssign) and isinstance(x.target, ast.Name):
            old = ast.Name(x.target.id, ast.Load())
            self._assign(x.target.id, self._value(ast.BinOp(old, x.op, x.value)))
        elif isinstance(x, ast.If):
            yes, no, after = self._label(), self._label(), self._label()
            self._branch(x.test, yes, no)
            for label, block in ((yes, x.body), (no, x.orelse)):
                self._start(label)
                self._body(block)
                self._end(f"br label %{after}")
            self._start(after)
        elif isinstance(x, ast.While):
            self._while(x.test, x.body)
        elif isinstance(x, ast.For) and isinstance(x.target, ast.Name) and isinstance(x.iter, ast.Call):
            k, end = ast.Name(x.target.id), ast.Name(f"{x.target.id}.end")
            self._assign(k.id, "0")
            self._assign(end.id, self._value(x.iter.args[0]))
            following = ast.AugAssign(k, ast.Add(), ast.Constant(1))
            self._while(ast.Compare(k, [ast.Lt()], [end]), [*x.body, following])
        elif isinstance(x, ast.Return):
            self._end(f"ret i64 {'0' if x.value is None else self._value(x.value)}")
        elif isinstance(x, ast.Expr):
            if not isinstance(x.value, ast.Constant):  # which is a docstring
                self._value(x.value)
        else:
            raise ProgramError(f"line {x.lineno} of {self._definition.name}: {ast.unparse(x)!r} is not native")

    def _assign(self, name: str, value: str) -> None:
        self._variables[name] = None
        self._line(f"store i64 {value}, ptr %{name}")

    def _while(self, test: ast.expr, body: Sequence[ast.stmt]) -> None:
        head, turn, leave = self._label(), self._label(), self._label()
        self._start(head)
        self._branch(test, turn, leave)
        self._start(turn)
        self._body(body)
        self._end(f"br label %{head}")
        self._start(leave)

    # -- conditions and values -------------------------------------------------------------------------------------

    def _branch(self, test: ast.expr, yes: str, no: str) -> None:
        """Go to a label; what need not be asked is not."""
        if isinstance(test, ast.BoolOp):
            for k, part in enumerate(test.values):
                last, following = k == len(test.values) - 1, self._label()
                if isinstance(test.op, ast.And):
                    self._branch(part, yes if last else following, no)
                else:
                    self._branch(part, yes, no if last else following)
                if not last:
                    self._start(following)
        elif isinstance(test, ast.Compare):
            self._end(f"br i1 {self._compare(test)}, label %{yes}, label %{no}")
        else:
            condition = self._new(f"icmp ne i64 {self._value(test)}, 0")
            self._end(f"br i1 {condition}, label %{yes}, label %{no}")

    def _compare(self, x: ast.Compare) -> str:
        a, b = self._value(x.left), self._value(x.comparators[0])
        return self._new(f"icmp {COMPARE[type(x.ops[0])]} i64 {a}, {b}")

    def _value(self, x: ast.expr) -> str:
        if isinstance(x, ast.Constant) and isinstance(x.value, int):
            return str(int(x.value))
        if isinstance(x, ast.Name):
            if x.id in self._constants:
                return str(self._constants[x.id])
            if x.id not in self._variables:
                raise ProgramError(f"line {x.lineno} of {self._definition.name}: {x.id!r} is not known")
            return self._new(f"load i64, ptr %{x.id}")
        if isinstance(x, ast.BinOp) and type(x.op) in BINARY:
            a, b = self._value(x.left), self._value(x.right)
            return self._new(f"{BINARY[type(x.op)]} i64 {a}, {b}")
        if isinstance(x, ast.UnaryOp) and isinstance(x.op, ast.USub):
            return self._new(f"sub i64 0, {self._value(x.operand)}")
        if isinstance(x, ast.Compare):
            return self._new(f"zext i1 {self._compare(x)} to i64")
        if isinstance(x, ast.BoolOp):
            yes, no, after = self._label(), self._label(), self._label()
            self._branch(x, yes, no)
            for label in (yes, no):
                self._start(label)
                self._end(f"br label %{after}")
            self._start(after)
            return self._new(f"phi i64 [ 1, %{yes} ], [ 0, %{no} ]")
        if isinstance(x, ast.Call) and isinstance(x.func, ast.Name):
            return self._call(x.func.id, x.args)
        raise ProgramError(f"{self._definition.name}: {ast.unparse(x)!r} is not native")

    def _call(self, name: str, arguments: Sequence[ast.expr]) -> str:
        if name == "stack":
            self._count += 1
            size = self._value(arguments[0])
            self._stack.append(f"  %.s{self._count} = alloca [{size} x i64], align 16")
            return self._new(f"ptrtoint ptr %.s{self._count} to i64")
        values = [self._value(a) for a in arguments]
        if name in RULES:
            return self._intrinsic(RULES[name], [*values, "0"])
        if name == "call":
            function = self._pointer(values.pop(0))
            return self._new(f"call i64 {function}({', '.join(f'i64 {v}' for v in values)})")
        if name == "pause":
            if self._pausing:
                self._line(f"call void {self._pausing}")
            return "0"
        if name not in self._arity:
            if name not in PYTHON:
                raise ProgramError(f"{self._definition.name}: {name!r} is not known")
            self.outside[name] = len(values)
        elif len(values) != self._arity[name]:
            raise ProgramError(f"{self._definition.name}: {name} takes {self._arity[name]} arguments")
        return self._new(f"call i64 @{name}({', '.join(f'i64 {v}' for v in values)})")

    def _intrinsic(self, rule: Sequence[str], values: Sequence[str]) -> str:
        """Write the lines of a rule; each that is no command gives what the next one calls `$`."""
        last = "0"
        for line in rule:
            line = re.sub(r"@(\d)", lambda m: self._pointer(values[int(m[1])]), line)
            line = re.sub(r"\$(\d)", lambda m: values[int(m[1])], line).replace("$", last)
            if line.startswith(("store", "call void")):
                self._line(line)
                last = "0"
            else:
                last = self._new(line)
        return last


PLACE = "getelementptr i64, ptr @0, i64 $1"
RULES: dict[str, tuple[str, ...]] = {
    "load": (PLACE, "load i64, ptr $"),
    "load32": ("load i32, ptr @0", "sext i32 $ to i64"),
    "store": (PLACE, "store i64 $2, ptr $"),
    "store32": ("trunc i64 $1 to i32", "store i32 $, ptr @0"),
    "copy": ("call void @llvm.memcpy.p0.p0.i64(ptr @0, ptr @1, i64 $2, i1 false)",),
    "exchange": ("atomicrmw xchg ptr @0, i64 $1 seq_cst, align 8",),
    "fetch_add": ("atomicrmw add ptr @0, i64 $1 seq_cst, align 8",),
    "compare_exchange": (
        "cmpxchg ptr @0, i64 $1, i64 $2 seq_cst seq_cst, align 8",
        "extractvalue { i64, i1 } $, 0",
    ),
    "watch": ("load atomic i64, ptr @0 seq_cst, align 8",),
}
"""The primitives as lines of LLVM: `$k` is an argument, `@k` the address that it is, `$` what the line before gave."""
