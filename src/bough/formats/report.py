"""Where readers say what is wrong: the first problem ends a load, while a check collects them all."""

from __future__ import annotations

from types import TracebackType

from bough.errors import BoughError, LoadError, LoadWarning, UnknownNameError, warn

__all__ = ["Enough", "Report"]

LONGEST_MESSAGE = 600  # characters of a message: what a file says may be of any length
MOST_PROBLEMS = 200  # problems that a check lists
EXPLAINED = 10  # unknown names that are told with the nearest ones, which take time to find


class Enough(Exception):
    """A check has found more than `MOST_PROBLEMS` problems, and ends."""


class Report:
    """The problems of one file.

    Parameters
    ----------
    file
        What the file is called in messages; None for text that came from no file.
    collect
        Whether to go on after a problem; otherwise the first one is raised.
    """

    def __init__(self, file: str | None = None, collect: bool = False) -> None:
        self.file = file
        self.collect = collect
        self.problems: list[LoadError] = []
        self.doubts: list[LoadError] = []
        self.remarks: list[LoadError] = []
        self.looked_up = 0  # words that were compared with those of the format
        self._unknown = 0

    def refuse(self, message: str, line: int | None = None) -> None:
        """Say what is wrong in a line: raised, or collected until there are enough."""
        error = self._error(message, line)
        if not self.collect:
            raise error from None
        self.problems.append(error)
        if len(self.problems) > MOST_PROBLEMS:
            raise Enough

    def doubt(self, message: str, line: int | None = None) -> None:
        """Say what is not physical but does no harm to the equations."""
        self.doubts.append(self._error(message, line))

    def remark(self, message: str, line: int | None = None) -> None:
        """Say what is odd but means what it seems to; only a check tells it."""
        self.remarks.append(self._error(message, line))

    def warn(self) -> None:
        """One warning for all doubts."""
        if self.doubts and not self.collect:
            more = f" (and {len(self.doubts) - 1} more, see `bough check`)" if len(self.doubts) > 1 else ""
            warn(f"{self.doubts[0]}{more}", LoadWarning)

    def message(self, error: BoughError) -> str:
        """The text of an error; after `EXPLAINED` unknown names without the nearest ones, which take time to find."""
        if not isinstance(error, UnknownNameError):
            return str(error)
        self._unknown += 1
        return error.message if self._unknown <= EXPLAINED else error.brief

    def all_found(self) -> tuple[LoadError, ...]:
        """All problems by line; of more than `MOST_PROBLEMS` the first ones, and one that says that there are more."""
        found = [error for kind in (self.problems, self.doubts, self.remarks) for error in kind]
        first = sorted(found[:MOST_PROBLEMS], key=lambda error: error.line or 0)
        told = f"there are more than {MOST_PROBLEMS} problems; those found first are listed"
        return tuple(first) if len(found) <= MOST_PROBLEMS else (self._error(told, None), *first)

    def _error(self, message: str, line: int | None) -> LoadError:
        if len(message) > LONGEST_MESSAGE:
            message = f"{message[: LONGEST_MESSAGE // 2]} … {message[-LONGEST_MESSAGE // 2 :]}"
        return LoadError(message, self.file, line)

    def at(self, line: int | None, what: str = "") -> _At:
        """A context: what the model refuses inside becomes a problem of that line, led by `what`."""
        return _At(self, line, what)


class _At:
    def __init__(self, report: Report, line: int | None, what: str) -> None:
        self._report, self._line, self._what = report, line, what

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        if not isinstance(error, BoughError) or isinstance(error, LoadError):
            return False
        text = self._report.message(error)
        self._report.refuse(f"{self._what}: {text}" if self._what else text, self._line)
        return True
