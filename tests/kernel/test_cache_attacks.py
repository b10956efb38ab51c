"""What others, crashes and full disks can do to the disk cache: never run what is not the user's own, never fail.

Tests with another user need the rights of root, as in a container.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import bough
from bough.cli import main
from bough.kernel import cache

pytestmark = pytest.mark.skipif(os.name == "nt", reason="rights of POSIX")
needs_root = pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="needs another user")

KEY, OTHER = "a" * 64, "b" * 64
STRANGER = 54321
"""A user without an entry in the list of users."""


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder of our own that others can get to."""
    with TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        yield Path(made).resolve()


@pytest.fixture
def folder(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache, with one program."""
    monkeypatch.setenv("BOUGH_CACHE_DIR", str(place / "cache"))
    cache.store(KEY, b"good")
    assert cache.load(KEY) == b"good"
    return place / "cache"


def file_of(folder: Path, key: str = KEY) -> Path:
    return folder / f"{key}.program"


def child(code: str, **environment: str) -> str:
    """What another process prints; HOME and the like as here, unless said otherwise. It has a minute."""
    given = os.environ | {"PYTHONPATH": str(Path(bough.__file__).parents[1])} | environment
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, env=given, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def as_stranger(code: str, **environment: str) -> str:
    """The same as another user, who has become one after loading all that is needed."""
    start = f"import os, bough\nfrom bough.kernel import cache\nos.setegid({STRANGER}); os.seteuid({STRANGER})\n"
    return child(start + textwrap.dedent(code), **environment)


# ---- files -----------------------------------------------------------------------------------------------------------


def test_files_exchanged_between_keys_are_not_run(folder: Path) -> None:
    cache.store(OTHER, b"other")
    first, second = file_of(folder).read_bytes(), file_of(folder, OTHER).read_bytes()
    file_of(folder).write_bytes(second)
    file_of(folder, OTHER).write_bytes(first)
    assert cache.load(KEY) is None
    assert cache.load(OTHER) is None
    cache.store(KEY, b"good")
    assert cache.load(KEY) == b"good"


def test_no_changed_byte_goes_unseen(folder: Path) -> None:
    good = file_of(folder).read_bytes()
    for place in range(len(good)):
        file_of(folder).write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        assert cache.load(KEY) is None, place
    for length in range(len(good)):
        file_of(folder).write_bytes(good[:length])
        assert cache.load(KEY) is None, length
    for bad in (good + b"\0", b"bough-1\n" + good[8:], b"\0" * len(good)):
        file_of(folder).write_bytes(bad)
        assert cache.load(KEY) is None
    file_of(folder).write_bytes(good)
    assert cache.load(KEY) == b"good"


def writable_by_group(file: Path) -> None:
    file.chmod(0o620)


def writable_by_all(file: Path) -> None:
    file.chmod(0o602)


def under_two_names(file: Path) -> None:
    os.link(file, file.with_suffix(".second"))


def a_link(file: Path) -> None:
    file.rename(file.with_suffix(".elsewhere"))
    file.symlink_to(file.with_suffix(".elsewhere"))


def of_another_user(file: Path) -> None:
    os.chown(file, STRANGER, STRANGER)


def a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file, 0o600)


def a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir(0o700)


def huge(file: Path) -> None:
    os.truncate(file, 1 << 42)  # takes no room on the disk, but would in memory


@pytest.mark.parametrize(
    "attack",
    [
        writable_by_group,
        writable_by_all,
        under_two_names,
        a_link,
        pytest.param(of_another_user, marks=needs_root),
        a_pipe,
        a_folder,
        huge,
    ],
)
def test_a_file_that_others_may_have_written_is_not_run(folder: Path, attack: Callable[[Path], None]) -> None:
    attack(file_of(folder))
    assert child(f"from bough.kernel import cache; print(cache.load({KEY!r}))") == "None"
    cache.store(KEY, b"anew")
    assert cache.load(KEY) == (None if attack is a_folder else b"anew")
    assert not list(folder.glob("*.part"))
    assert cache.info().files <= 1


@needs_root
def test_a_file_planted_while_the_folder_was_open_is_not_run(folder: Path) -> None:
    folder.chmod(0o777)
    plant = f"""
        import hashlib
        rest = b"{KEY}\\n" + b"foreign"
        os.unlink({str(file_of(folder))!r})
        with open({str(file_of(folder))!r}, "wb") as file:
            file.write(cache.MAGIC + hashlib.sha256(rest).digest() + rest)
        """
    as_stranger(plant)
    assert b"foreign" in file_of(folder).read_bytes()
    folder.chmod(0o700)
    assert cache.load(KEY) is None
    cache.store(KEY, b"good")
    assert cache.load(KEY) == b"good"


# ---- folders ---------------------------------------------------------------------------------------------------------


def test_a_folder_open_to_others_is_not_used(folder: Path) -> None:
    for mode in (0o777, 0o770, 0o720, 0o702):
        folder.chmod(mode)
        assert cache.load(KEY) is None
        cache.store(OTHER, b"other")
        assert cache.info().reason == "it is not a folder that only you can write to"
        assert cache.clear() == 0
    folder.chmod(0o755)
    assert cache.load(KEY) == b"good"
    assert cache.load(OTHER) is None


@needs_root
def test_a_folder_of_another_user_is_not_used(folder: Path) -> None:
    os.chown(folder, STRANGER, STRANGER)
    assert cache.load(KEY) is None
    assert not cache.info().usable
    cache.store(OTHER, b"other")
    assert not file_of(folder, OTHER).exists()


@needs_root
def test_it_is_the_user_acted_for_who_counts(folder: Path) -> None:
    """A process of root that acts for another user must not run what root alone has looked at, nor the reverse."""
    folder.chmod(0o755)
    file_of(folder).chmod(0o644)
    assert as_stranger(f"print(cache.load({KEY!r}))") == "None"


def test_a_link_to_a_folder_is_not_used(folder: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "link").symlink_to(folder)
    monkeypatch.setenv("BOUGH_CACHE_DIR", str(place / "link"))
    assert cache.load(KEY) is None
    assert cache.info().reason == f"{place / 'link'} is a link, expected a folder"


@pytest.mark.parametrize(("mode", "used"), [(0o777, False), (0o1777, True), (0o707, False), (0o755, True)])
def test_no_other_folder_can_be_put_in_its_place(
    place: Path, monkeypatch: pytest.MonkeyPatch, mode: int, used: bool
) -> None:
    above = place / "above"
    above.mkdir()
    above.chmod(mode)
    monkeypatch.setenv("BOUGH_CACHE_DIR", str(above / "between" / "cache"))
    cache.store(KEY, b"good")
    assert cache.load(KEY) == (b"good" if used else None)
    assert (above / "between").exists() == used
    assert cache.info().usable == used
    expected = "" if used else f"others can write to {above}, in which they could put another folder in its place"
    assert cache.info().reason == expected


@needs_root
def test_what_belongs_to_another_user_on_the_way_is_not_trusted(folder: Path, place: Path) -> None:
    (place / "way").symlink_to(place)
    through = {"BOUGH_CACHE_DIR": str(place / "way" / "cache")}
    look = f"from bough.kernel import cache; print(cache.load({KEY!r}), cache.info().reason)"
    assert child(look, **through) == "b'good'"
    os.lchown(place / "way", STRANGER, STRANGER)
    said = f"{place / 'way'} belongs to another user, who could put another folder in its place"
    assert child(look, **through) == f"None {said}"
    os.chown(place, STRANGER, STRANGER)
    assert child(look).startswith(f"None {place} belongs to another user")


@needs_root
def test_folders_exchanged_all_the_time_give_no_foreign_code(folder: Path, place: Path) -> None:
    """Someone who may write beside the cache renames the folders of both users, again and again."""
    place.chmod(0o777)
    exchange = f"""
        import hashlib, time
        os.chdir({str(place)!r})
        os.mkdir("theirs", 0o700)
        rest = b"{KEY}\\n" + b"foreign"
        with open("theirs/{KEY}.program", "wb") as file:
            file.write(cache.MAGIC + hashlib.sha256(rest).digest() + rest)
        end = time.monotonic() + 1.2
        while time.monotonic() < end:
            os.rename("cache", "away")
            os.rename("theirs", "cache")
            os.rename("cache", "theirs")
            os.rename("away", "cache")
        """
    look = f"""
        import time
        from bough.kernel import cache
        end = time.monotonic() + 1.2
        found = set()
        while time.monotonic() < end:
            found.add(cache.load({KEY!r}))
        print(any(b"foreign" in (content or b"") for content in found))
        """
    environment = os.environ | {"PYTHONPATH": str(Path(bough.__file__).parents[1])}
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(look)], env=environment, stdout=subprocess.PIPE) as us:
        as_stranger(exchange)
        assert us.communicate(timeout=60)[0].strip() == b"False"


def test_folders_are_made_private_whatever_the_mask(place: Path) -> None:
    code = f"import os; os.umask(0); from bough.kernel import cache; cache.store({KEY!r}, b'good')"
    child(code, BOUGH_CACHE_DIR=str(place / "a" / "b" / "cache"))
    made = [place / "a", place / "a" / "b", place / "a" / "b" / "cache"]
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o700] * 3
    assert stat.S_IMODE(file_of(made[-1]).stat().st_mode) == 0o600


# ---- places ----------------------------------------------------------------------------------------------------------


def test_a_relative_path_is_not_used(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever wrote to the present folder could choose what is run."""
    monkeypatch.chdir(place)
    monkeypatch.setenv("BOUGH_CACHE_DIR", "cache")
    cache.store(KEY, b"good")
    assert cache.load(KEY) is None
    assert cache.directory() is None
    assert not list(place.iterdir())
    main(["cache", "info"])
    assert "BOUGH_CACHE_DIR is 'cache', expected an absolute path" in capsys.readouterr().out
    main(["cache", "clear"])
    assert "expected an absolute path" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "darwin", reason="there is but one place for caches")
def test_a_relative_place_for_caches_is_ignored(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BOUGH_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    assert cache.directory() == place / ".cache" / "bough"
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "there"))
    assert cache.directory() == place / "there" / "bough"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "home")
    assert cache.directory() is None
    assert cache.info().reason.startswith("the home directory is 'home', expected an absolute path")


@needs_root
def test_without_a_home_there_is_no_cache(place: Path) -> None:
    code = f"""
        import os, bough
        from bough.cli import main
        model = bough.trees.topologies.chain(2)
        bough.rnea(model, [0.1, 0.2], [0.0, 0.0], [0.0, 0.0])
        main(["cache", "info"])  # so that all is loaded that there is to load
        for name in ("HOME", "XDG_CACHE_HOME", "BOUGH_CACHE_DIR"):
            os.environ.pop(name, None)
        os.setuid({STRANGER})
        print(bough.crba(model, [0.1, 0.2]).shape, bough.cache.directory())
        main(["cache", "info"])
        main(["cache", "clear"])
        """
    _, numbers, shown, cleared = child(code, BOUGH_BACKEND="llvm", BOUGH_CACHE_DIR=str(place / "c")).splitlines()
    said = "(nothing is stored: there is no home directory; BOUGH_CACHE_DIR can name a folder)"
    assert numbers == "(2, 2) None"
    assert shown == f"no programs are kept on disk {said}"
    assert cleared == f"removed 0 programs {said}"


@needs_root
def test_a_folder_that_can_only_be_read_is_read(folder: Path) -> None:
    for path in (folder, file_of(folder)):
        os.chown(path, STRANGER, STRANGER)
    folder.chmod(0o500)
    code = f"cache.store({OTHER!r}, b'other'); print(cache.load({KEY!r}), cache.load({OTHER!r}), cache.info())"
    said = as_stranger(code)
    assert said.startswith("b'good' None CacheInfo(")
    assert "usable=False, files=1" in said
    assert said.endswith("reason='it can be read, but not written: Permission denied')")


@needs_root
def test_a_place_where_nothing_can_be_made_is_told(place: Path) -> None:
    code = f"cache.store({KEY!r}, b'good'); print(cache.load({KEY!r}), cache.info().reason)"
    said = as_stranger(code, BOUGH_CACHE_DIR=str(place / "cache"))
    assert said == f"None it is not there, and nothing can be made in {place}: Permission denied"


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="Linux alone has such a place")
def test_a_place_that_rights_do_not_tell_of_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even root can make anything there, though it has all rights."""
    monkeypatch.setenv("BOUGH_CACHE_DIR", "/proc/bough")
    cache.store(KEY, b"good")
    kept = cache.info()
    assert not kept.usable
    assert kept.reason.startswith("it is not there, and nothing can be made in /proc: ")


# ---- crashes, clocks, crowds -----------------------------------------------------------------------------------------


def test_a_full_disk_is_no_error(folder: Path) -> None:
    """No file may grow beyond 4096 bytes: writing fails half way, as on a full disk."""
    code = f"""
        import resource
        from bough.kernel import cache
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        cache.store({OTHER!r}, bytes(100_000))
        print(cache.load({OTHER!r}), cache.load({KEY!r}))
        """
    assert child(code) == "None b'good'"
    assert [path.name for path in folder.iterdir()] == [file_of(folder).name]


def test_clocks_do_no_harm(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    monkeypatch.setattr(cache, "CACHE_ROOM", 2500)
    cache.store(OTHER, bytes(900))
    os.utime(file_of(folder, OTHER), (now + 1e8, now + 1e8))  # from before the clock was set back
    cache.store("c" * 64, bytes(900))
    cache.store("d" * 64, bytes(900))
    assert [cache.load(name * 64) is not None for name in "bcd"] == [False, True, True]
    ages = {"new": 60.0, "left": 7200.0, "to come": -1e8}
    for name, age in ages.items():
        (folder / f"{name}.part").write_bytes(b"half")
        os.utime(folder / f"{name}.part", (now - age, now - age))
    cache.store(KEY, b"good")
    assert [path.stem for path in folder.glob("*.part")] == ["new"]
    cache.clear()
    assert not list(folder.iterdir())


def test_many_processes_store_load_and_clear_at_once(folder: Path) -> None:
    code = """
        import os, sys, time
        from bough.kernel import cache
        cache.CACHE_ROOM = 40_000
        end = time.monotonic() + 1.0
        number, wrong, found = int(sys.argv[1]), 0, 0
        while time.monotonic() < end:
            for k in range(8):
                key = f"{k:064x}"
                cache.store(key, key.encode() * 100)
                data = cache.load(key)
                found += data is not None
                wrong += data not in (None, key.encode() * 100)
            cache.info()
            if number == 0:
                cache.clear()
        print(wrong, found > 0)
        """
    environment = os.environ | {"PYTHONPATH": str(Path(bough.__file__).parents[1])}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    crowd = [
        subprocess.Popen([*command, str(k)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for k in range(4)
    ]
    said = [process.communicate(timeout=60) for process in crowd]
    assert said == [("0 True\n", "")] * 4
    assert not list(folder.glob("*.part"))
