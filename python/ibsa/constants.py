# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Numbers of <ibsa/*.h>, which test/layout.py compares with the headers."""

import enum


class Method(enum.IntEnum):
    """Methods of queries."""

    GET = 0x01
    SET = 0x02
    REPORT = 0x06
    GET_TABLE = 0x12
    GET_MULTI = 0x14
    DELETE = 0x15
    GET_RESP = 0x81
    REPORT_RESP = 0x86
    GET_TABLE_RESP = 0x92
    GET_MULTI_RESP = 0x94
    DELETE_RESP = 0x95


class Outcome(enum.IntEnum):
    """What a reply means."""

    OK = 0
    NONE = 1
    REFUSED = 2
    BUSY = 3
    UNREACHABLE = 4


class Reach(enum.IntEnum):
    """Whether the SA has a path to a GID."""

    UNKNOWN = 0
    YES = 1
    NO = 2


class Why(enum.IntEnum):
    """When to find out why there is no path."""

    DEFAULT = 0
    ALWAYS = 1
    NEVER = 2


class Reason(enum.IntEnum):
    """Why the SA has no path to a GID."""

    NONE = 0
    NO_NAME = 1
    UNKNOWN_PORT = 2
    FAR_PORT_DOWN = 3
    THIS_PORT_DOWN = 4
    NO_PKEY = 5
    BOTH_LIMITED = 6
    OTHER_SUBNET = 7
    CONSTRAINT = 8
    NOT_MEMBER = 9


class Grh(enum.IntEnum):
    """Whether requests to the SM carry a GRH."""

    AUTO = 0
    ALWAYS = 1
    NEVER = 2


class EventKind(enum.IntFlag):
    """Kinds of events, of which a watch selects those below SUBSCRIBED."""

    GID_IN = 1 << 0
    GID_OUT = 1 << 1
    GROUP_CREATED = 1 << 2
    GROUP_DELETED = 1 << 3
    LINK_STATE = 1 << 4
    LOCAL_CHANGES = 1 << 5
    SYSTEM_IMAGE = 1 << 6
    OTHER = 1 << 7
    SUBSCRIBED = 1 << 16
    LOST = 1 << 17
    FAILED = 1 << 18
    REFUSED = 1 << 19
    GAP = 1 << 20
    ENDED = 1 << 21


class RegistrationEvent(enum.IntEnum):
    """Events of a registered service."""

    REGISTERED = 1
    LOST = 2
    REPLACED = 3
    FAILED = 4
    REFUSED = 5
    RELEASED = 6


class FaultKind(enum.IntEnum):
    """What a fault of an embedded fabric does to a MAD."""

    LOSE = 0
    DELAY = 1
    DUPLICATE = 2
    REORDER = 3
    CORRUPT = 4
    BUSY = 5
    SILENCE = 6
    REDIRECT = 7


class SmProfile(enum.IntEnum):
    """The SM whose behaviour the SA of an embedded fabric copies."""

    OPENSM = 0
    BUSY = 1
    SILENT = 2
    FEW = 3
    OPA_FM = 4
    SLOW = 5
    FULL = 6


class LinkLayer(enum.IntEnum):
    """Link layer of a port."""

    INFINIBAND = 0
    ETHERNET = 1
    OPA = 2


class Change(enum.IntFlag):
    """What changes at a port of an embedded fabric."""

    LINK = 1 << 0
    LID = 1 << 1
    LMC = 1 << 2
    SM_SL = 1 << 3
    PKEYS = 1 << 4
    NEEDS_GRH = 1 << 5
    REREGISTER = 1 << 6
    CAPABILITIES = 1 << 7
    RATE = 1 << 8
