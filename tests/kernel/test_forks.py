"""Forks while another thread compiles: the child computes as if nothing had been."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import bough

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")

CODE = """
    import faulthandler, os, threading, time, warnings
    import numpy as np
    import bough

    warnings.simplefilter("ignore")  # that forks and threads do not go together
    models = [bough.trees.topologies.chain(n) for n in range(2, 14)]

    def compile_all():
        for model in models:
            bough.crba(model, np.zeros(model.nv))
            bough.aba(model, *np.zeros((3, model.nv)))

    # the first forks meet a thread that loads LLVM, later ones a thread that traces, compiles, or loads code
    thread = threading.Thread(target=compile_all, daemon=True)
    thread.start()
    forks = bad = 0
    while thread.is_alive() and forks < 12 and not bad:
        time.sleep(0.01)
        child = os.fork()
        if child == 0:
            faulthandler.dump_traceback_later(30, exit=True)
            tau = bough.rnea(models[0], [0.1, 0.2], [0.3, 0.4], [0.5, 0.6])
            os._exit(not np.isfinite(tau).all())
        bad += os.waitpid(child, 0)[1] != 0
        forks += 1
    print(forks > 0, bad)
    os._exit(0)
"""


def test_a_child_of_a_process_that_compiles_can_compile(tmp_path: Path) -> None:
    place = {"PYTHONPATH": str(Path(bough.__file__).parents[1]), "BOUGH_CACHE_DIR": str(tmp_path / "cache")}
    environment = os.environ | place | {"BOUGH_BACKEND": "llvm"}
    command = [sys.executable, "-u", "-c", textwrap.dedent(CODE)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.strip() == "True 0", done.stderr
