"""The machine that code is made for: its processor, the width of its vectors, and turning source into code."""

from __future__ import annotations

import ctypes
import itertools
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from bough.backends.native.primitives import address_of

__all__ = ["Host", "host"]

_OUTSIDE = "outside"  # the library of what all compiled code may call


class Host:
    """The processor of this machine."""

    def __init__(self) -> None:
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self._llvm = llvm
        self.cpu: str = llvm.get_host_cpu_name()
        features = llvm.get_host_cpu_features()
        self.features: str = features.flatten()
        self.triple: str = llvm.get_process_triple()
        self._has = {name for name, present in features.items() if present}
        self.version = ".".join(map(str, llvm.llvm_version_info))
        # a library that holds all sections of its code in one piece: constants stay within reach of the code
        self._linker = llvm.create_lljit_compiler(self.machine(), use_jit_link=sys.platform != "win32")
        self._count = itertools.count()
        self._outside = self._link(_OUTSIDE, dict(_outside()), (), b"")

    @property
    def vector_bytes(self) -> int:
        """Width of the vector registers worth using."""
        if "avx512f" in self._has:
            return 64
        return 32 if "avx" in self._has else 16

    @property
    def fuses(self) -> bool:
        """Whether a multiply-add is one instruction."""
        return "fma" in self._has or not self.triple.startswith(("x86", "i386", "i686"))

    def machine(self, quick: bool = False) -> Any:
        """A fresh target machine; a `quick` one does not order the instructions once more when registers are given.

        That takes time with the square of the accesses to memory in a function, and processors reorder as well.
        """
        target = self._llvm.Target.from_triple(self.triple)
        # constants beside the code are addressed relative to it; the default for loaded code is longer
        near = "jitdefault" if sys.platform == "win32" else "small"
        level = 1 if quick else 2
        return target.create_target_machine(
            cpu=self.cpu, features=self.features, opt=level, reloc="pic", codemodel=near
        )

    @property
    def pausing(self) -> str:
        """The intrinsic by which a thread tells the processor that it waits for another."""
        if "x86" in self.triple:
            return "@llvm.x86.sse2.pause()"
        return "@llvm.aarch64.hint(i32 1)" if self.triple.startswith(("aarch64", "arm64")) else ""

    def object_code(self, source: str, loops: bool = False, passes: bool = False, quick: bool = False) -> bytes:
        """Object code of a module given as source.

        With `loops`, those over numbers in a row become vector code; with `passes`, LLVM's own passes run: programs
        have had better ones. With `quick`, as `machine` says.
        """
        module, machine = self._llvm.parse_assembly(source), self.machine(quick)
        module.verify()
        if loops or passes:
            tuning = self._llvm.create_pipeline_tuning_options(speed_level=2)
            tuning.loop_vectorization, tuning.slp_vectorization = loops, False
            builder = self._llvm.create_pass_builder(machine, tuning)
            builder.getModulePassManager().run(module, builder)
        code: bytes = machine.emit_object(module)
        return code

    def load(self, code: bytes, names: Iterable[str], calls: Mapping[str, int] | None = None) -> Any:
        """Load object code and find the functions of these names.

        `calls` tells the addresses of functions that the code calls. What is returned maps each name to its address,
        and must be kept alive as long as the code is used.
        """
        return self._link(f"code{next(self._count)}", calls or {}, names, code)

    def _link(self, library: str, calls: Mapping[str, int], names: Iterable[str], code: bytes) -> Any:
        builder = self._llvm.JITLibraryBuilder()
        if code:
            builder.add_object_img(code).add_jit_library(_OUTSIDE)
        for name, address in calls.items():
            builder.import_symbol(name, address)
        for name in names:
            builder.export_symbol(name)
        return builder.link(self._linker, library)


def _outside() -> Iterator[tuple[str, int]]:
    """The functions of the C library that compiled code calls where the processor lacks them."""
    libraries = {"win32": "ucrtbase", "darwin": "libSystem.dylib"}
    try:
        library = ctypes.CDLL(libraries.get(sys.platform, "libm.so.6"))
    except OSError:  # a system whose C library has all in one
        library = ctypes.CDLL(None)
    for name in ("sin", "sinf", "cos", "cosf", "atan2", "atan2f", "fma", "fmaf", "floor", "floorf", "rint", "rintf"):
        yield name, address_of(getattr(library, name))


@lru_cache(maxsize=1)
def host() -> Host:
    """The machine we are on, looked at once; LLVM is loaded here."""
    return Host()
