# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Queries to the InfiniBand Subnet Administration (SA), by libibsa.

    import ibsa
    with ibsa.open() as client:
        for node in client.query(ibsa.NodeRecord):
            print(node.lid, node.node_description)
"""

from ._callback import Port, ReachAnswer
from ._client import Client, open
from ._fabric import Fabric, FabricPort, fabric_command
from ._native import lib as _lib
from ._records import Record, Reply, Value, record_class
from ._service import Registration, RegistrationReport
from ._topology import (Finding, Topology, TopologyNode, TopologyPort,
                        TraceHop)
from ._watch import Event, Watch
from .constants import (EventKind, FaultKind, Grh, LinkLayer, Method, Reach,
                        Reason, RegistrationEvent, SmProfile)
from .errors import Error
from .records import *
from .records import __all__ as _record_names

__version__: str = _lib.ibsa_version().decode()


def status_text(status: int) -> str:
    """The meaning of a MAD status, such as "no records"."""
    return str(_lib.ibsa_status_text(status).decode())


__all__ = [
    "Client", "Error", "Event", "EventKind", "Fabric", "FabricPort",
    "FaultKind", "Finding", "Grh", "LinkLayer", "Method", "Port", "Reach", "ReachAnswer",
    "Reason", "Record", "Registration", "RegistrationEvent",
    "RegistrationReport",
    "Reply", "SmProfile", "Topology", "TopologyNode", "TopologyPort",
    "TraceHop", "Value", "Watch", "fabric_command", "open",
    "record_class", "status_text"]
__all__ += _record_names
