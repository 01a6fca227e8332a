# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A client of the fabric server of $IBSA_FABRIC, with four-hosts.net.

The SA is that of the server, or OpenSM (test/counterpart/python.sh).
"""

import asyncio
import time
import unittest

import ibsa
from ibsa import EventKind


def until(is_true):
    end = time.monotonic() + 30
    while not is_true():
        assert time.monotonic() < end, "not within 30 seconds"
        time.sleep(0.05)


class Server(unittest.TestCase):
    def test_records(self):
        with ibsa.open() as client:
            records = client.query(ibsa.NodeRecord, deadline_ms=9000)
            nodes = {node.node_description: node for node in records}
            self.assertEqual(sorted(nodes), ["node1", "node2", "node3", "node4",
                                             "rack 1", "rack 2"])
            port = client.query_one(ibsa.PortInfoRecord, port_num=1,
                                    endport_lid=nodes["node2"].lid)
            self.assertEqual(port.lid, nodes["node2"].lid)
            gids = [path.dgid for path in client.query(
                ibsa.PathRecord, sgid=client.port().gid, numb_path=127)
                if path.dlid == port.lid]
            self.assertTrue(gids)
            path = client.path(gids[0])
            self.assertEqual((path.dlid, path.slid),
                             (port.lid, client.port().lid))
            self.assertEqual(
                [one.reach.name for one in
                 client.reach_each([gids[0], "fe80::dead"])], ["YES", "NO"])

    def test_service(self):
        with ibsa.open() as client, ibsa.open("node3") as other:
            with client.register(service_id=0x1234, service_name="test",
                                 service_data64_2=7):
                record = other.query_one(ibsa.ServiceRecord, service_id=0x1234)
                self.assertEqual(record.service_name, "test")
                self.assertEqual(record.service_gid, client.port().gid)
            self.assertFalse(other.query("SR", service_name="test"))

    def test_events(self):
        async def main():
            async with ibsa.open() as client:
                gids = []
                async for event in client.watch():
                    if event.kind == EventKind.SUBSCRIBED:
                        ibsa.fabric_command("link down node2/1")
                    elif event.kind == EventKind.GID_OUT:
                        gids.append(event.gid)
                        ibsa.fabric_command("link up node2/1")
                    elif event.kind == EventKind.GID_IN and gids:
                        gids.append(event.gid)
                        return gids
        out, joined = asyncio.run(asyncio.wait_for(main(), 60))
        self.assertEqual(out, joined)
        with ibsa.open() as client:
            until(lambda: client.reach(out).reach == ibsa.Reach.YES)

    def test_in_flight(self):
        async def main():
            async with ibsa.open(no_sharing=True) as client:
                return await asyncio.gather(*(
                    client.query_async(ibsa.NodeRecord, node_type=1)
                    for _ in range(1000)))
        self.assertEqual({len(one) for one in asyncio.run(main())}, {4})

    def test_command(self):
        self.assertIn("clients", ibsa.fabric_command("stats"))
        with self.assertRaises(ibsa.Error) as caught:
            ibsa.fabric_command("nothing")
        self.assertIn("nothing", caught.exception.text)


if __name__ == "__main__":
    unittest.main()
