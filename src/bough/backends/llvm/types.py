"""The type a program computes in: float64 or float32, one number or a vector with a lane per state; lines of code."""

from __future__ import annotations

import struct
from dataclasses import dataclass

__all__ = ["Lines", "Real"]


@dataclass(frozen=True)
class Real:
    """How numbers and truth values are written in LLVM."""

    element: str  # "double" or "float"
    lanes: int

    @property
    def type(self) -> str:
        """Type of a value."""
        return self.element if self.lanes == 1 else f"<{self.lanes} x {self.element}>"

    @property
    def mask(self) -> str:
        """Type of a comparison."""
        return "i1" if self.lanes == 1 else f"<{self.lanes} x i1>"

    @property
    def suffix(self) -> str:
        """How intrinsics are named for this type."""
        width = "f64" if self.element == "double" else "f32"
        return width if self.lanes == 1 else f"v{self.lanes}{width}"

    @property
    def size(self) -> int:
        """Bytes of one element."""
        return 8 if self.element == "double" else 4

    @property
    def bytes(self) -> int:
        """Bytes of a value."""
        return self.size * self.lanes

    def constant(self, value: float) -> str:
        """A constant, the same in all lanes."""
        if self.element == "float":
            value = struct.unpack("f", struct.pack("f", value))[0] if abs(value) < 3.4e38 else value
        bits = struct.unpack("<Q", struct.pack("<d", value))[0]
        literal = f"0x{bits:016X}"
        return literal if self.lanes == 1 else "<" + ", ".join([f"{self.element} {literal}"] * self.lanes) + ">"

    @property
    def c(self) -> str:
        """What the names of C's functions of this element end with."""
        return "" if self.element == "double" else "f"

    def over_lanes(self, way: str, mask: str) -> str:
        """Whether a condition holds in some lane ("or") or in every one ("and"), as an instruction."""
        if self.lanes == 1:
            return f"and i1 {mask}, true"
        return f"call i1 @llvm.vector.reduce.{way}.v{self.lanes}i1({self.mask} {mask})"

    def truth(self, value: bool) -> str:
        """A truth value, the same in all lanes."""
        literal = "true" if value else "false"
        return literal if self.lanes == 1 else "<" + ", ".join([f"i1 {literal}"] * self.lanes) + ">"


class Lines:
    """Lines of a function, with a fresh name for every result, which begins as told."""

    def __init__(self, letter: str = "t") -> None:
        self.lines: list[str] = []
        self._letter, self._count = letter, 0

    def line(self, text: str) -> None:
        """Append a line."""
        self.lines.append("  " + text)

    def name(self) -> str:
        """A fresh name."""
        self._count += 1
        return f"%{self._letter}{self._count}"

    def new(self, text: str) -> str:
        """A line that defines a fresh name."""
        name = self.name()
        self.line(f"{name} = {text}")
        return name

    def repeated(self, element: str, value: str, lanes: int) -> str:
        """A vector with a value in all lanes."""
        t = f"<{lanes} x {element}>"
        one = self.new(f"insertelement {t} undef, {element} {value}, i64 0")
        return self.new(f"shufflevector {t} {one}, {t} undef, <{lanes} x i32> zeroinitializer")

    def text(self) -> str:
        """All lines."""
        return "\n".join(self.lines)
