"""Every error that Memhold raises, under the name that programs import: `from memhold.errors import NotFound`."""

from memhold.values import errors as _errors
from memhold.values.errors import *  # noqa: F403 - the public name of that page

__all__ = _errors.__all__
