# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Print the ports that join or leave the subnet: python3 watch.py [COUNT]"""

import asyncio
import sys
from ipaddress import IPv6Address
from typing import Dict

import ibsa
from ibsa import EventKind


class Names:
    """The names of nodes, also of those that the SA does not have any more."""

    def __init__(self, client: ibsa.Client) -> None:
        self.client = client
        self.of_guid: Dict[int, str] = {}

    async def read(self, **match: int) -> None:
        for node in await self.client.query_async(ibsa.NodeRecord, **match):
            self.of_guid[node.port_guid] = node.node_description

    async def find(self, gid: str) -> str:
        guid = int(IPv6Address(gid)) & (1 << 64) - 1
        if guid not in self.of_guid:
            await self.read(port_guid=guid)
        return self.of_guid.get(guid, "-")


async def main(count: int) -> None:
    async with ibsa.open() as client:
        names = Names(client)
        await names.read()
        async for event in client.watch():
            if event.kind in (EventKind.GID_IN, EventKind.GID_OUT):
                name = await names.find(event.gid)
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
