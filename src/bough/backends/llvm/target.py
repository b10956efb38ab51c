"""The machine that code is made for: its processor, the width of its vectors, and turning source into code.

All that is done with LLVM is done here, by the thread of `in_own_thread`: also giving back what is no longer used.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import sys
import weakref
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bough.backends.forks import making
from bough.backends.native.primitives import address_of
from bough.backends.own_thread import in_own_thread

__all__ = ["Code", "Host", "host", "in_haste"]

_Life: TypeAlias = "weakref.ref[NDArray[np.float64]]"
_OUTSIDE = "outside"  # the library of what all compiled code may call


class Code:
    """Code in memory, there as long as this lives: the addresses of its functions by name."""

    def __init__(self, addresses: Mapping[str, int]) -> None:
        self._addresses = addresses
        # Its end is the end of the code. Arrays end when nobody can use them any more; objects that hold others are
        # told to be gone while what ends with them still runs, and may yet stay
        self.life = np.zeros(1)

    def __getitem__(self, name: str) -> int:
        return self._addresses[name]


class Host:
    """The processor of this machine."""

    def __init__(self, llvm: Any) -> None:
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
        self._linker = llvm.create_lljit_compiler(self._machine(), use_jit_link=sys.platform != "win32")
        self._count = itertools.count()
        # Code in memory, by the identity of a reference to its life, which comes to the others when that ends. The
        # interpreter itself moves it, in whatever thread: no step of Python, so no signal comes between
        self._libraries: dict[int, tuple[_Life, Any]] = {}
        self._unused: deque[_Life] = deque()
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

    @property
    def pausing(self) -> str:
        """The intrinsic by which a thread tells the processor that it waits for another."""
        if "x86" in self.triple:
            return "@llvm.x86.sse2.pause()"
        return "@llvm.aarch64.hint(i32 1)" if self.triple.startswith(("aarch64", "arm64")) else ""

    def object_code(
        self, source: str, apart: str | None = None, *, loops: bool = False, passes: bool = False, quick: bool = False
    ) -> bytes:
        """Object code of a module given as source.

        With `loops`, those over numbers in a row become vector code; with `passes`, LLVM's own passes run: programs
        have had better ones. With `quick`, as `_machine` says of level 1. What is `apart` is source, too: of functions
        with loops, which alone are worth all passes that `loops` asks for; the others have some.
        """
        level = 1 if quick else 2
        if in_haste() and not passes:
            level, loops = 0, False
        return in_own_thread(lambda: self._object_code(source, apart, loops, passes, level))

    def _machine(self, level: int = 2) -> Any:
        """A fresh target machine; one of level 1 does not order the instructions once more when registers are given.

        That takes time with the square of the accesses to memory in a function, and processors reorder as well. One
        of level 0 keeps most values in memory.
        """
        target = self._llvm.Target.from_triple(self.triple)
        # constants beside the code are addressed relative to it; the default for loaded code is longer
        near = "jitdefault" if sys.platform == "win32" else "small"
        return target.create_target_machine(
            cpu=self.cpu, features=self.features, opt=level, reloc="pic", codemodel=near
        )

    def _object_code(self, source: str, apart: str | None, loops: bool, passes: bool, level: int) -> bytes:
        module, machine = self._parsed(source), self._machine(level)
        if apart is None and (loops or passes):
            self._improve(module, machine, loops)
        elif apart is not None:
            looping = self._parsed(apart)
            if loops:
                self._improve(looping, machine, loops)
                self._tidy(module, machine)
            module.link_in(looping)
        return bytes(machine.emit_object(module))

    def _parsed(self, source: str) -> Any:
        module = self._llvm.parse_assembly(source)
        module.verify()
        return module

    def _improve(self, module: Any, machine: Any, loops: bool) -> None:
        """Run all passes of level 2 on a module; of level 1 without loops."""
        tuning = self._llvm.create_pipeline_tuning_options(speed_level=2 if loops else 1)
        tuning.loop_vectorization, tuning.slp_vectorization = loops, False
        builder = self._llvm.create_pass_builder(machine, tuning)
        builder.getModulePassManager().run(module, builder)

    def _tidy(self, module: Any, machine: Any) -> None:
        """Run those of level 1 that look at one function, on each."""
        builder = self._llvm.create_pass_builder(machine, self._llvm.create_pipeline_tuning_options(speed_level=1))
        passes = builder.getFunctionPassManager()
        for function in module.functions:
            if not function.is_declaration:
                passes.run(function, builder)

    def load(self, code: bytes, names: Sequence[str], calls: Mapping[str, int] | None = None) -> Code:
        """Load object code and find the functions of these names.

        `calls` tells the addresses of functions that the code calls. What is returned maps each name to its address,
        and must be kept alive as long as the code is used. Its memory is given back when other code is loaded.
        """
        return in_own_thread(lambda: self._link(f"code{next(self._count)}", calls or {}, names, code))

    def _link(self, library: str, calls: Mapping[str, int], names: Sequence[str], code: bytes) -> Code:
        while self._unused:
            del self._libraries[id(self._unused.popleft())]
        builder = self._llvm.JITLibraryBuilder()
        if code:
            builder.add_object_img(code).add_jit_library(_OUTSIDE)
        for name, address in calls.items():
            builder.import_symbol(name, address)
        for name in names:
            builder.export_symbol(name)
        tracker = builder.link(self._linker, library)
        loaded = Code({name: tracker[name] for name in names})
        life = weakref.ref(loaded.life, self._unused.append)
        self._libraries[id(life)] = life, tracker
        return loaded


def _outside() -> Iterator[tuple[str, int]]:
    """The functions of the C library that compiled code calls where the processor lacks them."""
    libraries = {"win32": "ucrtbase", "darwin": "libSystem.dylib"}
    try:
        library = ctypes.CDLL(libraries.get(sys.platform, "libm.so.6"))
    except OSError:  # a system whose C library has all in one
        library = ctypes.CDLL(None)
    functions = ("sin", "cos", "atan2", "fma", "floor", "rint")
    for name in (*functions, *(f"{name}f" for name in functions), "memcpy", "memset"):
        yield name, address_of(getattr(library, name))


def in_haste() -> bool:
    """Whether the environment asks for code that is made sooner, and runs slower."""
    return os.environ.get("BOUGH_HASTE") == "1"


_host: list[Host] = []


def host() -> Host:
    """The machine we are on, looked at once; LLVM is loaded here."""
    if not _host:
        with making:  # imported here: an import that a signal ended earlier may have left other threads locked out
            import llvmlite.binding as llvm
        in_own_thread(lambda: _host.extend([] if _host else [Host(llvm)]))
    return _host[0]
