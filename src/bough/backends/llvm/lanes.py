"""Moving states between arrays (a row per state) and lanes (a vector per component).

`@to_lanes` and `@from_lanes` move one block of states. Full blocks are transposed in registers; a last block that is
not full is moved element by element, so that nothing outside the arrays is touched.
"""

from __future__ import annotations

from bough.backends.llvm.types import Real

__all__ = ["lanes_source"]


def lanes_source(real: Real) -> str:
    """The functions @to_lanes and @from_lanes(rows, stride in bytes, components, lanes' memory, states)."""
    return "\n".join([_full(real, "to"), _full(real, "from"), _part(real, "to"), _part(real, "from"), _DISPATCH])


_DISPATCH = "\n".join(
    f"""define internal fastcc void @{way}_lanes(ptr %rows, i64 %stride, i64 %n, ptr %lanes, i64 %states, i64 %width) {{
  %full = icmp eq i64 %states, %width
  br i1 %full, label %all, label %some
all:
  call fastcc void @{way}_lanes_full(ptr %rows, i64 %stride, i64 %n, ptr %lanes)
  ret void
some:
  call fastcc void @{way}_lanes_part(ptr %rows, i64 %stride, i64 0, i64 %n, ptr %lanes, i64 %states)
  ret void
}}"""
    for way in ("to", "from")
)


def _transposed(lines: list[str], real: Real, names: list[str]) -> list[str]:
    """A square of vectors, turned over in log2(lanes) rounds of shuffles."""
    width, t = real.lanes, real.type
    stride = 1
    while stride < width:
        result = list(names)
        low = [j if not j & stride else width + j - stride for j in range(width)]
        high = [j + stride if not j & stride else width + j for j in range(width)]
        for i in range(width):
            if i & stride:
                continue
            pair = f"{t} {names[i]}, {t} {names[i + stride]}"
            for place, mask in ((i, low), (i + stride, high)):
                name = f"%s{len(lines)}"
                indices = ", ".join(f"i32 {m}" for m in mask)
                lines.append(f"  {name} = shufflevector {pair}, <{width} x i32> <{indices}>")
                result[place] = name
        names = result
        stride *= 2
    return names


def _full(real: Real, way: str) -> str:
    """Squares of lanes x lanes, then the remaining components one by one."""
    width, t, e = real.lanes, real.type, real.element
    lines: list[str] = []
    for j in range(width):
        lines.append(f"  %o{j} = mul i64 %stride, {j}")
        lines.append(f"  %r{j} = getelementptr i8, ptr %rows, i64 %o{j}")
        lines.append(f"  %p{j} = getelementptr {e}, ptr %r{j}, i64 %k")
        lines.append(f"  %k{j} = add i64 %k, {j}")
        lines.append(f"  %q{j} = getelementptr {t}, ptr %lanes, i64 %k{j}")
    outer, inner = ("p", "q") if way == "to" else ("q", "p")
    align = {"p": real.size, "q": real.bytes}
    for j in range(width):
        lines.append(f"  %x{j} = load {t}, ptr %{outer}{j}, align {align[outer]}")
    turned = _transposed(lines, real, [f"%x{j}" for j in range(width)])
    for j, name in enumerate(turned):
        lines.append(f"  store {t} {name}, ptr %{inner}{j}, align {align[inner]}")
    body = "\n".join(lines)
    return f"""define internal fastcc void @{way}_lanes_full(ptr %rows, i64 %stride, i64 %n, ptr %lanes) {{
entry:
  %whole = and i64 %n, {-width}
  br label %head
head:
  %k = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %k, %whole
  br i1 %more, label %body, label %rest
body:
{body}
  %next = add i64 %k, {width}
  br label %head
rest:
  call fastcc void @{way}_lanes_part(ptr %rows, i64 %stride, i64 %whole, i64 %n, ptr %lanes, i64 {width})
  ret void
}}"""


def _part(real: Real, way: str) -> str:
    """Element by element: components first … n-1. Lanes without a state are given the last one's values."""
    e, width = real.element, real.lanes
    limit = width if way == "to" else "%states"
    move = (
        f"  %x = load {e}, ptr %p, align {real.size}\n  store {e} %x, ptr %q, align {real.size}"
        if way == "to"
        else f"  %x = load {e}, ptr %q, align {real.size}\n  store {e} %x, ptr %p, align {real.size}"
    )
    arguments = "ptr %rows, i64 %stride, i64 %first, i64 %n, ptr %lanes, i64 %states"
    return f"""define internal fastcc void @{way}_lanes_part({arguments}) {{
entry:
  br label %head
head:
  %j = phi i64 [ 0, %entry ], [ %j1, %done ]
  %more = icmp slt i64 %j, {limit}
  br i1 %more, label %row, label %exit
row:
  %known = icmp slt i64 %j, %states
  %last = sub i64 %states, 1
  %row_of = select i1 %known, i64 %j, i64 %last
  %o = mul i64 %stride, %row_of
  %r = getelementptr i8, ptr %rows, i64 %o
  br label %cols
cols:
  %k = phi i64 [ %first, %row ], [ %k1, %one ]
  %left = icmp slt i64 %k, %n
  br i1 %left, label %one, label %done
one:
  %p = getelementptr {e}, ptr %r, i64 %k
  %base = mul i64 %k, {width}
  %place = add i64 %base, %j
  %q = getelementptr {e}, ptr %lanes, i64 %place
{move}
  %k1 = add i64 %k, 1
  br label %cols
done:
  %j1 = add i64 %j, 1
  br label %head
exit:
  ret void
}}"""
