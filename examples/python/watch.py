# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Print the ports that join or leave the subnet: python3 watch.py [COUNT]"""

import asyncio
import sys
from ipaddress import IPv6Address

import ibsa
from ibsa import EventKind


async def node_name(client: ibsa.Client, gid: str) -> str:
    """The node of a GID, if the SA still has it."""
    guid = int(IPv6Address(gid)) & (1 << 64) - 1
    nodes = await client.query_async(ibsa.NodeRecord, port_guid=guid)
    return nodes[0].node_description if nodes else "-"


async def main(count: int) -> None:
    async with ibsa.open() as client:
        async for event in client.watch():
            if event.kind in (EventKind.GID_IN, EventKind.GID_OUT):
                name = await node_name(client, event.gid)
                print(event.name, event.gid, name, flush=True)
                count -= 1
                if not count:
                    return
            else:
                print(event.name, event.err, flush=True)


try:
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
except KeyboardInterrupt:
    pass
