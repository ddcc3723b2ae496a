"""What to say where the framework of an adapter is not there."""

from __future__ import annotations

from importlib import metadata

__all__ = ["lacking"]


def lacking(adapter: str, package: str, least: str, cause: ImportError) -> ImportError:
    """The error of an adapter whose framework is missing or too old: it says which is needed, and how it is installed.

    Args:
        adapter: The name of the module, `memhold.integrations.…`.
        package: What pip calls the framework.
        least: The oldest version that has what the adapter uses.
        cause: What importing it said; a part that is there and lacks a name is too old.
    """
    kind = ImportError
    try:
        found = f"{package} {metadata.version(package)} is installed, which lacks what it uses ({cause.name or cause})"
    except metadata.PackageNotFoundError:
        kind, found = ModuleNotFoundError, "it is not installed"
    return kind(
        f"{adapter} needs {package} {least} or newer, and {found}; run: pip install --upgrade '{package}>={least}'",
        name=package,
    )
