# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Selectors of a query: values of fields, and comparisons with them, by the rules
of common/selector.c, which a test compares."""

import ctypes
import difflib
import errno
import operator
import re
from typing import Any, List, Optional

from ._native import c_text, lib
from .errors import Error

# Constants of <ibsa/records.h> and <ibsa/types.h>; test/layout.py compares the
# numbers.
SHOW_GID = 2
SHOW_TEXT = 4
SHOW_BLOB = 5
SHOW_MTU = 6
SHOW_RATE = 7
NO_BIT = 0x80
UNMASKED = 0x81
SELECT_GREATER = 0
SELECT_LESS = 1
SELECT_EXACTLY = 2
NO_NUMBERS = (SHOW_GID, SHOW_TEXT, SHOW_BLOB)

_COMPARISONS = {">=": operator.ge, "<=": operator.le, ">": operator.gt,
                "<": operator.lt}
_CLASS_VERSION_OPA = 0x80
_MTU_MAX = 4096  # of InfiniBand


def _unknown(table: Any, name: str) -> Error:
    fields = [field.name.decode() for field in
              table.contents.fields[:table.contents.field_count]
              if field.cm != NO_BIT]
    folded = name.lower().replace("-", "_")
    near = [field for field in fields if field.replace("_", "").startswith(
        folded.replace("_", ""))]
    if len(near) != 1:
        near = difflib.get_close_matches(folded, fields, 1, 0.85)
    hint = f"did you mean '{near[0]}'?" if near else \
        f"it has {', '.join(fields)}"
    return Error(-errno.ENOENT, f"{table.contents.name.decode()} has no field "
                 f"'{name}'; {hint}")


def value_parse(field: Any, index: ctypes.c_uint, name: str, text: str,
                host: Any) -> None:
    """Write a value from text to the struct of a record."""
    err = lib.ibsa_field_parse(field, index, c_text(text, name), host)
    if err == -errno.ERANGE:
        raise Error(err, f"{name}: '{text}' does not fit the field")
    if err < 0:
        raise Error(err, f"{name}: '{text}' is not a value of the field")


def _is_assigned(field: Any, code: int) -> bool:
    """Whether a code has a meaning. Ports report 0 in some fields, but not as
    the MTU or rate of a path or group."""
    show = field.contents.show
    if not lib.ibsa_show_is_code(show):
        return True
    if not code:
        return field.contents.name not in (b"mtu", b"rate")
    return bool(lib.ibsa_code_name(show, code))


def _size(show: int, code: int) -> int:
    if show == SHOW_MTU:
        return int(lib.ibsa_mtu_bytes(code))
    return int(lib.ibsa_rate_mbps(code)) if show == SHOW_RATE else code


def _weight(show: int, code: int) -> int:
    """The number by which OpenSM orders values: rates by their data, 8 of 10
    bits up to code 10, 64 of 66 for higher codes."""
    size = _size(show, code)
    if show != SHOW_RATE:
        return size
    return size * 8 // 10 if code <= 10 else size * 64 // 66


def _possible(table: Any, field: Any) -> List[int]:
    """The values that a path may have, in the order of the SA."""
    show = field.contents.show
    codes = list(range(1 << field.contents.nbits))
    if lib.ibsa_show_is_code(show):
        codes = [code for code in codes if _size(show, code)]
    if show == SHOW_MTU and \
            table.contents.class_version != _CLASS_VERSION_OPA:
        codes = [code for code in codes if _size(show, code) <= _MTU_MAX]
    return sorted(codes, key=lambda code: _weight(show, code))


def _limit(table: Any, field: Any, sign: str, wanted: int) -> Optional[int]:
    """The value to send, of which the SA returns only greater or only smaller
    ones; None if the comparison excludes nothing. An SA may lower the rate of a
    path, so "<" permits only rates that fulfil it. The others permit all that
    fulfil them, and perhaps more: the SA's order is not that of the rates."""
    show = field.contents.show
    codes = _possible(table, field)
    met = [code for code in codes if _COMPARISONS[sign](
        _size(show, code), _size(show, wanted))]
    unmet = [code for code in codes if code not in met]
    if sign == "<":
        return unmet[0] if unmet else None
    if not met:
        return unmet[-1] if sign[0] == ">" else None
    if sign == "<=":
        end = _weight(show, met[-1])
        beyond = [code for code in codes if _weight(show, code) > end]
        return beyond[0] if beyond else None
    end = _weight(show, met[0])
    below = [code for code in codes if _weight(show, code) < end]
    return below[-1] if below else None


def select(table: Any, name: str, text: str, host: Any, mask: int) -> int:
    """Write a value, or the comparison that the text begins with, to the struct
    of a query. Return: the component mask with the bits of the field."""
    index = ctypes.c_uint()
    field = lib.ibsa_field_find(table, c_text(name, "name"), index)
    if not field:
        raise _unknown(table, name)
    record, show = table.contents.name.decode(), field.contents.show
    bits = lib.ibsa_field_cm(field, index)
    if not bits and field.contents.cm != UNMASKED:
        raise Error(-errno.EINVAL,
                    f"the SA cannot select by '{name}' of {record}")
    found = None if show in NO_NUMBERS else re.match("[<>]=?", text)
    sign = found[0] if found else ""
    selector = lib.ibsa_field_find(
        table, field.contents.name + b"_selector", ctypes.c_uint())
    selector_bits = lib.ibsa_field_cm(selector, 0) if selector else 0
    if sign and not selector:
        raise Error(-errno.EINVAL, f"the SA cannot compare '{name}' of "
                    f"{record} by order; write the value alone")
    if sign and mask & selector_bits:
        raise Error(-errno.EINVAL, f"{name}_selector is already given, and "
                    f"sets the comparison; write the value of {name} alone")
    before = lib.ibsa_field_get(field, index, host)
    value_parse(field, index, name, text[len(sign):], host)
    value = lib.ibsa_field_get(field, index, host)
    if not _is_assigned(field, value):
        raise Error(-errno.EINVAL,
                    f"{name}: '{text[len(sign):]}' is not a value of the field")
    choice = SELECT_EXACTLY
    if sign:
        limit = _limit(table, field, sign, value)
        lib.ibsa_field_set(field, index, before if limit is None else limit,
                           host)
        if limit is None:
            return mask
        choice = SELECT_GREATER if sign[0] == ">" else SELECT_LESS
    # The SA compares an MTU, rate or lifetime only if the mask has the
    # selector, too.
    if selector and not mask & selector_bits:
        lib.ibsa_field_set(selector, 0, choice, host)
    return mask | int(bits | selector_bits)
