"""A property that is computed once for each object and then kept, without any lock."""

from __future__ import annotations

import functools
from typing import Any, TypeVar, overload

__all__ = ["cached_property"]

T = TypeVar("T")


class cached_property(functools.cached_property[T]):
    """As `functools.cached_property`, but two threads that compute it at once both get what was ready first.

    Up to Python 3.11 all objects of a class share a lock for each such property. Threads would wait for each other, for
    ever if two properties need one another, and so would the child of a fork made while another thread computes one.
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> cached_property[T]: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...

    def __get__(self, instance: object, owner: type[Any] | None = None) -> cached_property[T] | T:
        if instance is None:
            return self
        assert self.attrname is not None
        known = vars(instance)
        if self.attrname not in known:
            known.setdefault(self.attrname, self.func(instance))
        found: T = known[self.attrname]
        return found
