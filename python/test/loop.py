# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A client on an asyncio event loop."""

import asyncio
import errno
import time
import unittest

import ibsa
from ibsa import EventKind
from support import FOUR_HOSTS, unraisable


async def ticker(pauses):
    """Measure the pauses between turns of the loop: time, and CPU time."""
    last = time.perf_counter(), time.thread_time()
    while True:
        await asyncio.sleep(0)
        now = time.perf_counter(), time.thread_time()
        pauses.append((now[0] - last[0], now[1] - last[1]))
        last = now


async def until(is_true):
    """Let the loop run until a condition is true, at most ten seconds."""
    end = time.monotonic() + 10
    while not is_true() and time.monotonic() < end:
        await asyncio.sleep(0.001)


async def read(watch, kinds):
    """Append the kinds of a watch's events to a list, until it ends."""
    async for event in watch:
        kinds.append(event.kind)


class Loop(unittest.IsolatedAsyncioTestCase):
    options = {}

    async def asyncSetUp(self):
        self.fabric = ibsa.Fabric.load(FOUR_HOSTS, **self.options)
        self.client = self.fabric.open()
        self.gids = [port.state.gid for port in self.fabric.ports()]
        self.reports = []
        asyncio.get_running_loop().set_exception_handler(
            lambda _, context: self.reports.append(context["exception"]))

    async def asyncTearDown(self):
        self.client.close()
        self.fabric.close()
        self.assertEqual(unraisable, [])

    async def test_all(self):
        client = self.client
        self.assertEqual(len(await client.query_async(ibsa.NodeRecord)), 6)
        node = await client.query_one_async("NodeRecord", lid=4)
        self.assertEqual(node.node_description, "node2")
        path = await client.path_async(self.gids[1])
        self.assertEqual(path.dlid, node.lid)
        self.assertTrue(await client.reach_async(self.gids[1]))
        answers = await client.reach_each_async([self.gids[1], "fe80::dead"])
        self.assertEqual([bool(one) for one in answers], [True, False])
        topology = await client.topology_async()
        self.assertEqual(list(topology.nodes()),
                         list(ibsa.Topology.load(FOUR_HOSTS).nodes()))

    async def test_errors(self):
        for wrong in (self.client.query_async("NodeRecord", nothing=1),
                      self.client.query_async("InformInfo"),
                      self.client.path_async("fe80::dead"),
                      self.client.reach_each_async([])):
            with self.assertRaises(ibsa.Error):
                await wrong
        self.fabric.fault("silence=100")
        flying = self.client.query_async("NodeRecord")
        await asyncio.sleep(0.01)
        late = self.client.query_async("NodeRecord", lid=1)
        self.client.close()
        for query in flying, late:
            with self.assertRaises(ibsa.Error) as caught:
                await query
            self.assertEqual(caught.exception.err, -errno.ECANCELED)
        with self.assertRaises(ibsa.Error):
            self.client.query_async("NodeRecord")

    async def test_cancel(self):
        self.fabric.fault("silence=100")
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(self.client.query_async("NodeRecord"), 0.02)
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(
                self.client.reach_each_async(self.gids), 0.02)
        query = self.client.query_async("NodeRecord")
        query.cancel("why")  # before it is sent
        with self.assertRaises(asyncio.CancelledError) as caught:
            await query
        self.assertEqual(caught.exception.args, ("why",))
        await until(lambda: self.client.stats.queries ==
                    self.client.stats.canceled)
        self.assertEqual(self.client.stats.queries,
                         self.client.stats.canceled)
        self.fabric.fault("none")
        self.assertTrue(await self.client.reach_async(self.gids[1]))

    async def test_callback_exception(self):
        self.client.start("NodeRecord", lambda _: 1 / 0)
        await self.client.query_async("NodeRecord", lid=1)
        self.assertIsInstance(self.reports[0], ZeroDivisionError)

    async def test_watch_and_service(self):
        async with self.client.watch(EventKind.GID_OUT) as watch:
            kinds = []
            async for event in watch:
                kinds.append(event.kind)
                if event.kind == EventKind.SUBSCRIBED:
                    async with self.client.register(service_id=5):
                        self.assertEqual(len(
                            await self.client.query_async("SR")), 1)
                    self.fabric.link_down("node2")
                elif event.kind == EventKind.GID_OUT:
                    break
        self.assertEqual(kinds, [EventKind.SUBSCRIBED, EventKind.GID_OUT])
        self.assertFalse(await self.client.query_async("ServiceRecord"))
        with self.assertRaises(ibsa.Error):
            async with self.client.register(service_id=5, service_pkey=0x1234):
                self.fail("registered with a P_Key that the port has not")

    async def test_close_ends_watch(self):
        kinds = []
        task = asyncio.create_task(read(self.client.watch(), kinds))
        await until(lambda: kinds)
        self.client.close()
        await asyncio.wait_for(task, 10)
        self.assertEqual(kinds, [EventKind.SUBSCRIBED])

    async def test_two_readers(self):
        """Each event goes to one of them, and the end to both."""
        watch = self.client.watch()
        kinds = [], []
        tasks = [asyncio.create_task(read(watch, one)) for one in kinds]
        await until(lambda: any(kinds))
        watch.close()
        await asyncio.wait_for(asyncio.gather(*tasks), 10)
        self.assertEqual(sorted(kinds), [[], [EventKind.SUBSCRIBED]])

    async def test_many(self):
        """1,000 queries in flight. Prints the longest pause of the loop."""
        asyncio.get_running_loop().set_debug(False)
        for window in (16, 1000):
            async with self.fabric.open(window=window,
                                        no_sharing=True) as client:
                pauses = []
                task = asyncio.create_task(ticker(pauses))
                await asyncio.sleep(0)
                for _ in range(5):
                    replies = await asyncio.gather(*(
                        client.query_async(ibsa.NodeRecord, lid=1)
                        for _ in range(1000)))
                    self.assertEqual({len(one) for one in replies}, {1})
                task.cancel()
                self.assertGreater(len(pauses), 5)
                longest = [max(one) * 1000 for one in zip(*pauses)]
                print(f"1,000 queries in flight, window {window}: longest "
                      f"pause {longest[0]:.1f} ms, {longest[1]:.1f} ms of CPU")

    async def test_full_queue(self):
        """More queries than the queue holds wait in Python."""
        async with self.fabric.open(window=1, queue=1,
                                    no_sharing=True) as client:
            replies = await asyncio.gather(*(
                client.query_async(ibsa.NodeRecord, lid=1)
                for _ in range(50)))
            self.assertEqual(len(replies), 50)

    async def test_blocking_meanwhile(self):
        """A call that waits delivers the replies of coroutines, too."""
        query = self.client.query_async("NodeRecord", lid=1)
        await asyncio.sleep(0)
        self.assertEqual(len(self.client.query("NodeRecord")), 6)
        self.assertEqual(len(await query), 1)


class VirtualLoop(unittest.IsolatedAsyncioTestCase):
    async def test_clock(self):
        """The clock advances while a coroutine waits for a client."""
        start = time.monotonic()
        with ibsa.Fabric.load(FOUR_HOSTS, virtual_clock=True) as fabric:
            async with fabric.open() as client:
                fabric.fault("lose=100")
                with self.assertRaises(ibsa.Error) as caught:
                    await client.query_async("NodeRecord")
                self.assertEqual(caught.exception.err, -errno.ETIMEDOUT)
                fabric.fault("none")
                async with client.register(service_id=5, service_lease=60):
                    for _ in range(60):
                        fabric.advance_ms(10000)
                        await asyncio.sleep(0)
                        await asyncio.sleep(0)
                    self.assertTrue(await client.query_async("SR"))
                events = client.watch()
                self.assertEqual((await events.__anext__()).kind,
                                 EventKind.SUBSCRIBED)
        self.assertLess(time.monotonic() - start, 5)


class Loops(unittest.TestCase):
    def test_one_after_another(self):
        """A client moves from loop to loop, and is used without one between."""
        with ibsa.Fabric.load(FOUR_HOSTS) as fabric, fabric.open() as client:
            for _ in range(3):
                async def main():
                    return await client.query_async("NodeRecord")
                self.assertEqual(len(asyncio.run(main())), 6)
                self.assertEqual(len(client.query("NodeRecord")), 6)


if __name__ == "__main__":
    unittest.main()
