# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A client on an embedded fabric: queries, events, services, errors."""

import errno
import itertools
import os
import pickle
import signal
import threading
import time
import unittest

import ibsa
from ibsa import EventKind
from support import FOUR_HOSTS, FabricTest, default


class Queries(FabricTest):
    def test_no_environment(self):
        """By default, IBSA_NODE names the node of the fabric."""
        os.environ["IBSA_NODE"] = "nobody"
        try:
            self.assertEqual(self.error(ibsa.open, fabric=FOUR_HOSTS).err,
                             -errno.ENODEV)
            with ibsa.open(fabric=FOUR_HOSTS, no_environment=True) as client:
                self.assertEqual(client.port().lid, 1)
        finally:
            del os.environ["IBSA_NODE"]

    def test_query(self):
        nodes = self.client.query(ibsa.NodeRecord)
        self.assertEqual(len(nodes), 6)
        self.assertEqual(nodes[-1], nodes[5])
        self.assertEqual(len(nodes[1:3]), 2)
        self.assertRaises(IndexError, lambda: nodes[6])
        for node in nodes:
            same = self.client.query("NR", node_description=
                                     node.node_description)
            self.assertEqual(list(same), [node])
            self.assertEqual(list(self.client.query("noderecord",
                                                    lid=node.lid)), [node])
        self.assertFalse(self.client.query(ibsa.NodeRecord, lid=99))

    def test_all_records(self):
        """Each record can be queried by default; the SA may refuse."""
        for name in ("PortInfoRecord", "ClassPortInfo", "SwitchInfoRecord",
                     "LinearForwardingTableRecord", "LinkRecord"):
            self.assertTrue(self.client.query(name), name)
        paths = self.client.query(
            ibsa.MultiPathRecord, sgid_count=1, dgid_count=1, numb_path=1,
            reversible=1, gid_1=self.gids[0], gid_2=self.gids[1])
        self.assertEqual(paths[0].dgid, self.gids[1])
        self.assertIs(paths.record, ibsa.PathRecord)

    def test_one(self):
        self.assertEqual(self.client.query_one(
            ibsa.NodeRecord, lid=1).node_description, "node1")
        error = self.error(self.client.query_one, "NodeRecord", lid=99)
        self.assertEqual((error.err, error.errno, error.status),
                         (-errno.ENOENT, errno.ENOENT, 0x300))
        error = self.error(self.client.query_one, "NodeRecord",
                           method=ibsa.Method.GET_TABLE)
        self.assertEqual(error.err, -errno.ENOTUNIQ)

    def test_path_and_reach(self):
        path = self.client.path(self.gids[1], pkey=0xffff)
        self.assertEqual((path.sgid, path.dgid), (self.gids[0], self.gids[1]))
        other = self.client.path(self.gids[0], source=self.gids[1])
        self.assertEqual((other.slid, other.dlid), (path.dlid, path.slid))
        self.assertEqual(self.error(self.client.path, "fe80::dead").err,
                         -errno.ENOENT)
        self.assertTrue(self.client.reach(self.gids[1]))
        answer = self.client.reach("fe80::dead")
        self.assertFalse(answer)
        self.assertEqual(answer.reason, ibsa.Reason.UNKNOWN_PORT)
        self.assertIn("fe80::dead", answer.detail)
        answers = self.client.reach_each([*self.gids[:3], "fe80::dead"],
                                         source=self.gids[2])
        self.assertEqual([bool(one) for one in answers],
                         [True, True, True, False])
        self.assertEqual(answers[1].gid, self.gids[1])
        self.error(self.client.reach_each, [])
        self.error(self.client.reach, "x")

    def test_rails(self):
        """The demo's host gpu5 has two cables in each other's switch."""
        pod = FOUR_HOSTS.parent / "gpu-pod.net"
        with ibsa.Fabric.load(pod) as fabric, fabric.open() as client:
            self.assertEqual(
                [(one.name, one.what.partition(",")[0])
                 for one in client.topology().check()],
                [("rail-crossed",
                  "gpu5 mlx5_1 port 1 is connected to leaf3"),
                 ("rail-crossed",
                  "gpu5 mlx5_2 port 1 is connected to leaf2")])
            fabric.link_down("gpu3 mlx5_3")
            self.assertEqual(
                [(one.missing_device, one.missing_port, one.what)
                 for one in client.topology().check()
                 if one.name == "rail-missing"],
                [("mlx5_3", 1,
                  "gpu3 has no mlx5_3, but 7 of 8 hosts like it have")])

    def test_comparisons(self):
        """A comparison stands before the value, not behind the name."""
        for mtu, is_possible in ((">=2048", True), ("<=2048", True),
                                 (">2048", False), ("<4096", True)):
            found = self.client.query("PathRecord", sgid=self.gids[0],
                                      dgid=self.gids[1], mtu=mtu)
            self.assertEqual(bool(found), is_possible, mtu)
        path = self.client.path(self.gids[1], mtu="<=2048", rate=">=10Gb/s")
        self.assertEqual(path.text("mtu"), "2048")
        for name in ("mtu>", "mtu<", "mtu="):
            error = self.error(self.client.path, self.gids[1], **{name: 4})
            self.assertIn("before the value", str(error))

    def test_why_not(self):
        answer = self.client.reach("fe80::dead")
        self.assertEqual(answer.reason, ibsa.Reason.UNKNOWN_PORT)
        self.assertIn("no port with GID fe80::dead", answer.detail)
        self.fabric.fault("silence=100")
        answer = self.client.reach(self.gids[1], timeout_ms=20)
        text = str(self.error(bool, answer))
        self.assertIn(f"path to {self.gids[1]}: ", text)

    def test_topology(self):
        topology = self.client.topology()
        self.assertEqual((topology.info.nodes, topology.info.switches,
                          topology.info.islands), (6, 2, 1))
        nodes = list(topology.nodes())
        names = {node.name: node for node in nodes}
        port = topology.port(names["node1"].number, 1)
        self.assertEqual(nodes[port.far_node].type, 2)
        far = topology.port(port.far_node, port.far_port)
        self.assertEqual((far.far_node, far.far_port),
                         (names["node1"].number, 1))
        self.assertEqual((far.lanes, far.speed), (port.lanes, port.speed))
        self.assertEqual(topology.check(), [])
        other = [one for one in topology.ports(names["node2"]) if one.lid][0]
        hops, end = topology.trace(port.lid, other.lid, self.client.query(
            "LinearForwardingTableRecord"))
        self.assertEqual(end, "")
        self.assertEqual((hops[0].node, hops[-1].far_node),
                         (names["node1"].number, names["node2"].number))
        self.error(topology.trace, 99, other.lid, [])
        hops, end = topology.trace(port.lid, other.lid, [])
        self.assertEqual((len(hops), bool(end)), (1, True))
        self.assertRaises(ValueError, topology.trace, port.lid + (1 << 32),
                          other.lid, [])
        self.assertRaises(TypeError, topology.trace, port.lid, other.lid,
                          self.client.query("NodeRecord"))
        self.assertIsNone(topology.port(-1, 0))
        self.assertEqual(topology.check(topology), [])
        self.error(ibsa.Topology.load, "/nowhere")

    def test_findings(self):
        expected = ibsa.Topology.load(FOUR_HOSTS)
        self.assertEqual(self.client.topology().check(expected), [])
        self.fabric.link_down("node2", 1)
        findings = self.client.topology().check(expected)
        self.assertEqual({one.name for one in findings}, {"missing"})
        self.assertTrue(all(one.is_critical and one.what for one in findings))

    def test_errors(self):
        self.assertIn("no field 'nothing'",
                      self.error(self.client.query, "PR", nothing=1).text)
        for near in ("nodedesc", "description", "Node_Desc"):
            text = self.error(self.client.query, "NR", **{near: "x"}).text
            self.assertEqual("did you mean 'node_description'?" in text,
                             near != "description", text)
        self.assertIn("it has lid, ",
                      self.error(self.client.query, "NR", node="x").text)
        error = self.error(self.client.query, "InformInfo")
        self.assertEqual(error.err, -errno.EREMOTEIO)
        self.assertEqual(error.status & 0x1c, 0x0c)
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((again.err, again.status, again.text),
                         (error.err, error.status, error.text))
        self.fabric.sm_stop()
        self.client.port(refresh=True)
        self.assertEqual(self.error(self.client.query, "NR").err,
                         -errno.EAGAIN)
        answer = self.client.reach(self.gids[1], timeout_ms=20)
        self.assertEqual(answer.reach, ibsa.Reach.UNKNOWN)
        self.error(bool, answer)
        self.assertEqual(self.error(self.client.query, "NR", method=0x112).err,
                         -errno.EINVAL)
        for wrong in ({"deadline_ms": -1}, {"method": 1 << 32},
                      {"attribute_modifier": 1 << 32}):
            self.assertRaises(ValueError, self.client.query, "NR", **wrong)
        self.assertRaises(ValueError, self.fabric.open, window=-1)
        self.assertRaises(ValueError, self.fabric.open, sm_key=1 << 64)
        self.assertRaises(ValueError, self.client.watch, audit_ms=1 << 32)
        self.assertRaises(ValueError, ibsa.Fabric.load, FOUR_HOSTS, seed=-1)
        self.assertRaises(ValueError, self.fabric.pkeys, "node1", 1, [1 << 16])
        self.client.close()
        self.assertTrue(self.client.closed)
        self.assertEqual(self.error(self.client.query, "NR").err,
                         -errno.ESHUTDOWN)
        self.assertEqual(self.error(ibsa.open, fabric="/none").err,
                         -errno.ENOENT)

    def test_callbacks(self):
        """start(), an event loop of one's own, and exceptions of callbacks."""
        results = []

        def done(result):
            results.append(result)
            if len(results) == 2:
                raise ZeroDivisionError

        for _ in range(4):
            self.client.start("NodeRecord", done, lid=1, no_sharing=True)
        caught = 0
        while len(results) < 4:
            try:
                self.client.wait(1000)
            except ZeroDivisionError:
                caught += 1
        self.assertEqual(caught, 1)
        self.assertEqual([len(one) for one in results], [1] * 4)
        number = self.client.start("NodeRecord", results.append, lid=4)
        self.client.cancel(number)
        self.client.dispatch()
        self.assertEqual(results[-1].err, -errno.ECANCELED)
        self.assertEqual(self.error(self.client.cancel, number).err,
                         -errno.ENOENT)

    def test_close_in_callback(self):
        """A callback runs after C has returned, and may close the client."""
        results = []

        def done(result):
            results.append(result)
            self.client.close()

        self.client.start("NodeRecord", done, lid=1, no_sharing=True)
        self.client.start("NodeRecord", results.append, lid=1, no_sharing=True,
                          deadline_ms=5000)
        self.fabric.fault("silence=100")
        self.client.start("NodeRecord", results.append, lid=1, no_sharing=True)
        while not self.client.closed:
            self.client.wait(1000)
        self.assertEqual(len(results), 3)
        self.assertEqual(results[-1].err, -errno.ECANCELED)

    def test_signal(self):
        """A signal's exception ends a query, and is not lost."""
        self.fabric.fault("silence=100")

        def handler(*_):
            raise InterruptedError("by the test")

        old = signal.signal(signal.SIGALRM, handler)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            start = time.monotonic()
            with self.assertRaisesRegex(InterruptedError, "by the test"):
                self.client.query("NodeRecord")
            self.assertLess(time.monotonic() - start, 5)
        finally:
            signal.signal(signal.SIGALRM, old)
        self.fabric.fault("none")
        self.assertEqual(len(self.client.query("NodeRecord")), 6)
        self.assertEqual(self.client.stats.canceled, 1)
        self.assertIn("canceled=1", repr(self.client.stats))

    def test_signals_during_dispatch(self):
        """Exceptions at any place lose no reply and no later query."""
        armed = raised = 0

        def handler(*_):
            nonlocal armed
            if armed:
                armed = 0
                raise InterruptedError

        old = signal.signal(signal.SIGALRM, handler)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0007)
            for _ in range(300):
                try:
                    armed = 1
                    self.client.query("NodeRecord", lid=1, deadline_ms=2000)
                    armed = 0
                except InterruptedError:
                    raised += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, old)
        self.assertGreater(raised, 0)
        self.assertEqual(len(self.client.query("NodeRecord")), 6)

    def test_threads(self):
        """One client in several threads: each gets its own replies."""
        wrong = []

        def work(lid):
            for _ in range(100):
                node = self.client.query_one("NodeRecord", lid=lid)
                if node.lid != lid:
                    wrong.append(node)

        threads = [threading.Thread(target=work, args=(lid,))
                   for lid in (1, 4, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Events(FabricTest):
    def test_watch(self):
        with self.client.watch(EventKind.GID_OUT | EventKind.LINK_STATE) as \
                watch:
            self.assertEqual(next(watch).kind, EventKind.SUBSCRIBED)
            self.fabric.link_down("node2")
            events = {one.kind: one for one in itertools.islice(watch, 2)}
            out = events[EventKind.GID_OUT]
            self.assertEqual((out.gid, out.trap, out.name),
                             (self.gids[1], 65, "gid-out"))
            self.assertEqual(out.notice.trap_number, 65)
            self.assertGreater(events[EventKind.LINK_STATE].lid, 0)
        self.assertEqual(list(watch), [])

    def test_filter_and_limit(self):
        watch = self.client.watch(gids=[self.gids[1]], limit=2)
        self.assertEqual(next(watch).kind, EventKind.SUBSCRIBED)
        for _ in range(3):
            self.fabric.link_down("node2")
            self.fabric.link_up("node2")
            self.fabric.link_down("node3")
            self.fabric.link_up("node3")
        self.client.run(0.05)
        events = list(itertools.islice(watch, 3))
        self.assertEqual([(one.kind, one.gid) for one in events[:2]],
                         [(EventKind.GID_OUT, self.gids[1]),
                          (EventKind.GID_IN, self.gids[1])])
        self.assertEqual((events[2].kind, events[2].err),
                         (EventKind.GAP, -errno.ENOBUFS))
        self.client.close()
        self.assertEqual(list(watch), [])
        watch.close()

    def test_wrong(self):
        error = self.error(self.client.watch, audit_nodes=True,
                           kinds=EventKind.LINK_STATE)
        self.assertEqual(error.err, -errno.EINVAL)
        self.error(self.client.watch, gids=["x"])


class Services(FabricTest):
    def test_service(self):
        events = []
        with self.client.register(service_id=5, service_name="one",
                                  service_data32_1=7,
                                  on_report=events.append) as service:
            self.assertEqual(service.report.service.service_lease,
                             default("LEASE_S"))
            record = self.client.query_one("ServiceRecord", service_id=5)
            self.assertEqual(record.service_name, "one")
            self.assertEqual(record.service_data32[0], 7)
            self.assertEqual(record.service_gid, self.gids[0])
            self.assertEqual(self.error(self.client.register,
                                        service_id=5).err, -errno.EEXIST)
        self.assertFalse(self.client.query("ServiceRecord"))
        self.assertEqual([one.name for one in events],
                         ["registered", "released"])

    def test_refused(self):
        with self.assertRaises(ibsa.Error) as caught:
            with self.client.register(service_id=5, service_pkey=0x1234):
                self.fail("registered with a P_Key that the port has not")
        self.assertEqual(caught.exception.err, -errno.EREMOTEIO)
        self.assertNotEqual(caught.exception.status, 0)

    def test_close_releases(self):
        other = self.fabric.open()
        service = other.register(service_id=6)
        service.__enter__()
        self.assertEqual(len(self.client.query("ServiceRecord")), 1)
        other.close()
        self.assertEqual(len(self.client.query("ServiceRecord")), 0)
        service.release()
        self.assertEqual(service.report.name, "released")
        with self.assertRaises(ibsa.Error) as caught, service:
            self.fail("entered after the client was closed")
        self.assertEqual(caught.exception.err, -errno.ECANCELED)
        self.assertIn("the client was closed", str(caught.exception))


class VirtualClock(FabricTest):
    options = {"virtual_clock": True}

    def test_timeout_takes_no_time(self):
        self.fabric.fault("lose=100")
        start = time.monotonic()
        error = self.error(self.client.query, "NodeRecord")
        self.assertEqual(error.err, -errno.ETIMEDOUT)
        self.assertRegex(error.text, r"requests sent: [2-9]$")
        self.assertLess(time.monotonic() - start, 5)
        self.fabric.fault("lose=0")
        self.assertEqual(len(self.client.query("NodeRecord")), 6)

    def test_renewal(self):
        """A lease of one minute, after ten, with and without dispatching."""
        with self.client.register(service_id=5, service_lease=60):
            other = self.fabric.open()
            for _ in range(60):
                self.fabric.advance_ms(10000)
                self.client.dispatch()
                while self.client.timeout_ms == 0:
                    self.client.dispatch()
            self.assertEqual(len(other.query("ServiceRecord")), 1)
            other.close()

    def test_changes(self):
        self.fabric.fault("busy=100,2")
        self.assertEqual(len(self.client.query("NodeRecord")), 6)
        self.assertEqual(self.client.stats.busy, 2)
        self.fabric.sm_move("node3")
        self.assertEqual(self.client.port(refresh=True).sm_lid, 5)
        self.fabric.sm_start()
        self.fabric.link_speed("node2", 1, "1xSDR")
        self.assertEqual(self.client.path(self.gids[1]).text("rate"),
                         "2.5Gb/s")
        self.fabric.pkeys("node2", 1, [0x8001])
        self.assertFalse(self.client.reach(self.gids[1]))
        self.assertEqual(self.fabric.info.nodes, 6)
        self.assertEqual(next(self.fabric.ports()).node, "node1")
        for wrong, text in (
                (lambda: self.fabric.link_down("none"),
                 "'none': the fabric has no such node"),
                (lambda: self.fabric.link_down("node1", 9),
                 "'node1': the node has no port 9"),
                (lambda: self.fabric.link_speed("node1", 1, "1xXXX"),
                 "'node1': a value is not valid for this port"),
                (lambda: self.fabric.sm_move("none"),
                 "'none': the fabric has no such node")):
            self.assertEqual(self.error(wrong).text, text)
        for wrong in (lambda: self.fabric.fault("x"),
                      lambda: self.client.run(1),
                      lambda: ibsa.Fabric.parse("x"),
                      lambda: ibsa.Fabric.load("/none")):
            self.error(wrong)

    def test_close_before_client(self):
        """The fabric exists until its last client is closed."""
        self.fabric.close()
        self.assertEqual(len(self.client.query("NodeRecord")), 6)
        self.error(self.fabric.open)
        self.client.close()

    def test_options(self):
        fabric = ibsa.Fabric.parse(FOUR_HOSTS.read_text(), first_lid=100,
                                   sa_node="node2", virtual_clock=True)
        with fabric, fabric.open("node3") as client:
            self.assertEqual(client.port().sm_lid, 100)
        self.assertRaises(TypeError, ibsa.Fabric.load, FOUR_HOSTS, nothing=1)
        with self.assertRaisesRegex(TypeError, "fabric must be .* not int"):
            ibsa.open(fabric=5)  # type: ignore[arg-type]
        self.assertEqual(os.fspath(FOUR_HOSTS), str(FOUR_HOSTS))


if __name__ == "__main__":
    unittest.main()
