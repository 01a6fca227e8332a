# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Exit of the interpreter, forks, garbage collection and leaks."""

import asyncio
import gc
import os
import resource
import unittest
import warnings

import ibsa
from ibsa import _callback
from support import FOUR_HOSTS, FabricTest, python

PROGRAM = """
import os, sys, ibsa
fabric = ibsa.Fabric.load(sys.argv[1])
client = fabric.open()
other = fabric.open("node2")
"""


class Exit(unittest.TestCase):
    def runs(self, program, out="", status=0):
        done = python(PROGRAM + program, str(FOUR_HOSTS))
        self.assertEqual((done.stdout, done.stderr, done.returncode),
                         (out, "", status))

    def test_open_at_exit(self):
        """With queries, a watch, a service and a batch in flight."""
        self.runs("""
fabric.fault("silence=100")
client.start("NodeRecord", lambda result: print(result.err))
client.watch()
client.register(service_id=5)
print(len(list(fabric.ports())))
""", "5\n-125\n")

    def test_fork(self):
        """A child cannot use its parent's clients, and exits without them."""
        self.runs("""
client.register(service_id=5).__enter__()
client.start("NodeRecord", print)
child = os.fork()
if not child:
    assert client.closed and not ibsa._callback.entries
    with ibsa.open(fabric=sys.argv[1]) as own:
        assert len(own.query("NodeRecord")) == 6
    sys.exit(3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
client.run(0.05)
print(len(other.query("ServiceRecord")))
client.close()
print(len(other.query("ServiceRecord")))
""", "<6 NodeRecord>\n1\n0\n")

    def test_fork_in_loop(self):
        """The parent's loop goes on after a child closed its copies."""
        self.runs("""
import asyncio
async def main():
    await client.query_async("NodeRecord")
    child = os.fork()
    if not child:
        os._exit(0 if client.closed else 1)
    assert os.waitpid(child, 0)[1] == 0
    print(len(await client.query_async("NodeRecord")))
asyncio.run(main())
""", "6\n")

    def test_exit_in_callback(self):
        self.runs("""
client.start("NodeRecord", lambda _: sys.exit(4))
while True:
    client.wait()
""", status=4)


class Garbage(FabricTest):
    def test_forgotten_client(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.fabric.open().query("NodeRecord")
            gc.collect()
        self.assertEqual([one.category for one in caught], [ResourceWarning])

    def test_collected_while_in_flight(self):
        """What C holds is not freed, whatever the program drops."""
        results = []
        for _ in range(100):
            self.client.start(
                "NodeRecord", lambda one: results.append(len(one)),
                no_sharing=True)
            self.client.watch()
            gc.collect()
        while len(results) < 100:
            self.client.wait()
            gc.collect()
        self.assertEqual(set(results), {6})

    def test_leaks(self):
        """Queries leave neither entries, nor objects, nor memory."""
        count = int(os.environ.get("IBSA_PYTHON_QUERIES", "6000"))

        def query(number):
            for _ in range(number):
                self.client.query("NodeRecord", lid=1, no_sharing=True)
                self.client.reach("fe80::dead")
            asyncio.run(query_async(number))

        async def query_async(number):
            for _ in range(number // 500):
                await asyncio.gather(*(
                    self.client.query_async("NodeRecord", lid=at & 7)
                    for at in range(500)))

        query(1000)
        gc.collect()
        objects, peak = len(gc.get_objects()), self.peak_kb()
        query(count // 3)
        gc.collect()
        self.assertEqual(_callback.entries, {})
        self.assertLess(len(gc.get_objects()), objects + 100)
        self.assertLess(self.peak_kb(), peak + 2048)
        print(f"{count} queries: {self.peak_kb() - peak} kB more")

    @staticmethod
    def peak_kb():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    unittest.main()
