# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The records of subnet administration, one class for each.

The classes come from the tables of the library when this module is imported;
records.pyi, which the build generates from <ibsa/records.h>, describes them to
type checkers.
"""

from ._records import records

globals().update((one.name, one) for one in records)
__all__ = [one.name for one in records]
