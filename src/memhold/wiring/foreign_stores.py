"""Stores of other packages: which are installed, and what opens the one of a scheme."""

from __future__ import annotations

from collections.abc import Collection
from importlib.metadata import EntryPoint, entry_points

from memhold.ports.store_factory import STORES, StoreFactory
from memhold.values.errors import InvalidInput

__all__ = ["foreign_factory"]


def foreign_factory(scheme: str, own: Collection[str]) -> StoreFactory:
    """What an installed package has registered for a scheme that is not among Memhold's `own`.

    Raises:
        InvalidInput: none has, several have, or what one has cannot be loaded.
    """
    registered = entry_points(group=STORES)
    found = {(point.value, _package(point)): point for point in registered if point.name.lower() == scheme}
    if not found:
        known = ", ".join(sorted({f"{name.lower()}://" for name in (*own, *registered.names)}))
        raise InvalidInput(
            f"no store is known for {scheme!r:.40}; known are a file path, {known}. Another store is opened once the"
            f" package that registers its scheme (entry points {STORES!r}) is installed"
        )
    if len(found) > 1:
        packages = ", ".join(sorted(package for _, package in found))
        raise InvalidInput(
            f"several packages register a store for {scheme!r}: {packages}; keep one and uninstall the others"
        )
    ((_, package), point) = next(iter(found.items()))
    try:
        factory: StoreFactory = point.load()
    except (ImportError, AttributeError) as error:
        raise InvalidInput(
            f"the store for {scheme!r} of the package {package} cannot be loaded: {type(error).__name__}: {error}"
        ) from error
    return factory


def _package(point: EntryPoint) -> str:
    return "?" if point.dist is None else point.dist.name
