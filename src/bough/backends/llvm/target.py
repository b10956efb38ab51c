"""The machine that code is made for: its processor, the width of its vectors, and turning source into code."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from bough.backends.native.primitives import address_of

__all__ = ["Host", "host"]


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
        for name, address in _outside():
            llvm.add_symbol(name, address)

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

    def define(self, name: str, address: int) -> None:
        """Let code that is loaded find a function under a name."""
        self._llvm.add_symbol(name, address)

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

    def load(self, code: bytes) -> Any:
        """Load object code; the engine returned tells addresses of functions and must be kept alive."""
        engine = self._llvm.create_mcjit_compiler(self._llvm.parse_assembly(""), self.machine())
        engine.add_object_file(self._llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        return engine


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
