#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests ibsa metrics --listen: scrapers, events, and hostile clients.

usage: metrics_listen.py IBSA FABRIC

Events are compared with those of ibsa watch at another port, other values with
those of ibsa metrics.
"""
import concurrent.futures
import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from metrics_support import Server, Test, classic_samples, labels_of, of

OPENMETRICS = "application/openmetrics-text; version=1.0.0"


class Listener:
    """A running ibsa metrics --listen."""

    def __init__(self, test, *args, address="0"):
        self.test = test
        self.process = subprocess.Popen(
            [test.ibsa, "metrics", "--listen", address, *args], env=test.env,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        self.port = int(self.url.rsplit(":")[-1].split("/")[0])

    def get(self, accept=OPENMETRICS, url=None, method="GET"):
        request = urllib.request.Request(url or self.url, method=method,
                                         headers={"Accept": accept})
        with urllib.request.urlopen(request, timeout=20) as reply:
            return reply.read().decode(), reply.headers["Content-Type"]

    def samples(self):
        return self.test.samples(self.get()[0])

    def until(self, is_done):
        """Collect until is_done() is true of the samples, for 20 s at most.
        Return the last samples."""
        end = time.monotonic() + 20
        while True:
            samples = self.samples()
            if is_done(samples) or time.monotonic() > end:
                return samples
            time.sleep(0.1)

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def end(self):
        """End the listener with SIGTERM. Return what it has written to
        standard error."""
        self.process.send_signal(signal.SIGTERM)
        _, error = self.process.communicate(timeout=20)
        self.test.same(self.process.returncode, 0, f"SIGTERM: {error}")
        self.test.expect("Sanitizer" not in error and
                         "runtime error" not in error, error)
        return error


def constant(samples):
    """Return the samples without those that differ from one collection to
    the next."""
    return {key: value for key, value in samples.items()
            if "seconds" not in str(key) and "_total" not in str(key)
            and "subscribed" not in str(key) or "per_second" in str(key)}


def watch_start(test, node):
    """Start ibsa watch at the port of another node. Return when it has
    subscribed."""
    watch = subprocess.Popen([test.ibsa, "watch", "all", "--format=ndjson"],
                             env={**test.env, "IBSA_NODE": node},
                             stdout=subprocess.PIPE, text=True)
    watch.stdout.readline()
    return watch


def watch_end(watch):
    watch.terminate()
    return [json.loads(line)["event"] for line in watch.communicate()[0]
            .splitlines()]


def both_formats_have_the_values(test, listener):
    listener.until(lambda s: s["ibsa_event_subscribed"] == 1)
    text, kind = listener.get()
    samples = test.samples(text)
    test.same(kind, OPENMETRICS + "; charset=utf-8", "type")
    text, kind = listener.get("text/plain, */*")
    test.same(kind, "text/plain; version=0.0.4; charset=utf-8", "type")
    test.same(classic_samples(text), samples, "text format 0.0.4")
    test.same(constant(samples), constant(test.metrics()), "values")
    test.same(of(samples, "ibsa_sa_answers_total", "status")["success"], 10,
              "answers of two collections")
    for url, method, status in (("/x", "GET", 404), ("/", "GET", 404),
                                ("/metrics", "POST", 405),
                                ("/metrics", "DELETE", 405)):
        try:
            listener.get(url=listener.url.replace("/metrics", url),
                         method=method)
            test.expect(False, f"{method} {url} is answered")
        except urllib.error.HTTPError as error:
            test.same(error.code, status, f"{method} {url}")
    test.same(listener.get(method="HEAD")[0], "", "HEAD")


def scrapers_share_a_collection(test, listener):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        texts = list(pool.map(lambda _: listener.get()[0], range(40)))
    answers = {of(test.samples(text), "ibsa_sa_answers_total",
                  "status")["success"] for text in texts}
    test.expect(len(answers) <= 2, f"{answers} answers in a moment")


def send(listener, data):
    """Send bytes, and return the first line of the answer."""
    with listener.connect() as client, contextlib.suppress(OSError):
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        return client.recv(65536).split(b"\r\n")[0]
    return b""


def wrong_clients_do_no_harm(test, listener):
    for data in (b"\0" * 4096, b"GET /metrics\r\n\r\n", b"\xff\xfe\r\n\r\n",
                 b"GET " + b"/x" * 20000 + b" HTTP/1.1\r\n\r\n",
                 b"GET /metrics HTTP/1.1\r\n" + b"A: b\r\n" * 100000,
                 b"GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: "
                 b"99999999999999999999\r\n\r\n",
                 b"GET /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
                 b"chunked\r\n\r\nffffffffffffffffff\r\n",
                 b"GET /metrics/../x HTTP/1.1\r\nHost: x\r\n\r\n"):
        answer = send(listener, data)
        test.expect(b" 200 " not in answer, f"{data[:50]}: {answer}")
    answer = send(listener, b"GET /metrics HTTP/1.1\r\nHost: x\r\n"
                            b"Content-Length: 5\r\n\r\n12345")
    test.expect(b" 200 " in answer, f"a body: {answer}")
    clients = [listener.connect() for _ in range(31)]
    for client in clients:
        client.sendall(b"GET /metr")
    start = time.monotonic()
    listener.get()
    test.expect(time.monotonic() - start < 4, "a request beside slow clients")
    for client in clients:
        client.close()
    with listener.connect() as client:
        client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    listener.get()


def stop_before_a_request(test):
    """Send a request to a server that does not run. Return a function that lets
    it run, and checks that the request is answered, however old it is."""
    listener = Listener(test)
    client = listener.connect()
    client.sendall(b"GET /metr")
    listener.get()  # after this, the server has accepted the other connection
    listener.process.send_signal(signal.SIGSTOP)
    client.sendall(b"ics HTTP/1.1\r\nHost: x\r\n\r\n")

    def answered():
        listener.process.send_signal(signal.SIGCONT)
        answer = client.recv(65536)
        test.expect(b" 200 " in answer[:20], f"late answer: {answer[:50]}")
        client.close()
        listener.end()

    return answered


def clients_are_ended(test, listener):
    """Clients that send no whole request, idle or slowly, are disconnected
    after 5 s."""
    answered = stop_before_a_request(test)
    idle = [listener.connect() for _ in range(40)]
    start = time.monotonic()
    listener.get()
    test.expect(time.monotonic() - start < 4, "a request after idle clients")
    with listener.connect() as client, contextlib.suppress(OSError):
        start = time.monotonic()
        client.sendall(b"GET /metrics HTTP/1.1\r\n")
        while time.monotonic() - start < 40:
            client.sendall(b"A: b\r\n")
            time.sleep(0.5)
    test.expect(4.5 < time.monotonic() - start < 10,
                f"end after {time.monotonic() - start} s")
    for client in idle:
        client.close()
    listener.get()
    answered()


def get_beside_others(listener, end):
    """Scrape again if the connection is ended, as it is on a busy machine if 32
    others connect between connect() and send() of the scraper."""
    while True:
        try:
            return listener.get()
        except (http.client.RemoteDisconnected, urllib.error.URLError,
                ConnectionError):
            if time.monotonic() > end:
                raise


def slow_clients_keep_no_scraper_out(test, listener):
    """Clients that send a byte now and then, and connect again when they are
    disconnected."""
    clients = [listener.connect() for _ in range(185)]
    is_ended = threading.Event()

    def drip():
        while not is_ended.wait(0.05):
            for i, client in enumerate(clients):
                try:
                    client.sendall(b"G")
                except OSError:
                    client.close()
                    clients[i] = listener.connect()

    dripper = threading.Thread(target=drip)
    dripper.start()
    try:
        for _ in range(3):
            start = time.monotonic()
            get_beside_others(listener, start + 4)
            test.expect(time.monotonic() - start < 4, "a request beside slow "
                        f"clients: {time.monotonic() - start:.1f} s")
    finally:
        is_ended.set()
        dripper.join()
    for client in clients:
        client.close()
    listener.get()


def one_connection_has_one_request(test, listener):
    request = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
    with listener.connect() as client:
        client.sendall(2 * request)
        data = b""
        while more := client.recv(65536):
            data += more
    test.same(data.count(b"HTTP/1.1 200 OK"), 1, "answers")


def events_are_those_of_watch(test, server, listener):
    """Change the fabric. Return a function that compares the counted events
    with those of ibsa watch; the caller calls it later."""
    watch = watch_start(test, "node3 mlx5_0")
    before = listener.samples()
    server.change("node", "remove", "größe")
    server.change("node", "add", "größe")
    server.change("sm", "move", "node2 mlx5_0")

    def check():
        samples = listener.until(
            lambda s: s["ibsa_event_subscribed"] == 1
            and s["ibsa_event_gaps_total"] > 0
            and labels_of(s, "ibsa_sm_info") !=
            labels_of(before, "ibsa_sm_info"))
        events = watch_end(watch)
        counts = of(samples, "ibsa_events_total", "kind")
        test.same(len(counts), 8, "kinds")
        test.expect(counts["gid-out"] > 0, "no event")
        for kind, count in counts.items():
            test.same(count, events.count(kind), kind)
        test.same(samples["ibsa_event_gaps_total"], events.count("gap"),
                  "gaps")
        test.expect(samples["ibsa_sm_changes_total"] > 0, "no SM change")
        test.same(labels_of(samples, "ibsa_sm_info"),
                  labels_of(test.metrics(), "ibsa_sm_info"), "SM")

    return check


def another_program_has_the_reports(test):
    """The second listener at a port receives no Reports, since the first one
    does."""
    listener = Listener(test, "node")
    test.same(listener.samples()["ibsa_event_subscribed"], 0, "subscribed")
    test.expect("events are not counted" in listener.end(),
                "the reason is not told")


def addresses_are_checked(test, listener):
    for address in ("x", "", "1:2:3", "127.0.0.1:", ":1", "localhost:1",
                    "65536", "-1", "[::1:1", "127.0.0.1:99999", "1 "):
        _, error = test.run("metrics", "--listen", address, status=2)
        test.same(error.count("\n"), 1, f"sentences of {address}")
    _, error = test.run("metrics", "--listen", str(listener.port), status=4)
    test.expect("in use" in error, error)
    _, error = test.run("metrics", "--listen", "192.0.2.1:0", status=4)
    test.expect("cannot listen" in error, error)
    test.run("metrics", "--listen", "0", "-o", "x", status=2)
    other = Listener(test, "node", address="127.0.0.2:0")
    test.expect(other.url.startswith("http://127.0.0.2:"), other.url)
    other.get()
    other.end()
    if os.path.exists("/proc/net/if_inet6"):
        other = Listener(test, "node", address="[::1]:0")
        test.expect(other.url.startswith("http://[::1]:"), other.url)
        other.get()
        other.end()


def an_sm_that_starts_later(ibsa, fabric):
    """A listener subscribes when an SM starts after it. This check has its
    own Test, because it runs beside the others."""
    test = Test(ibsa)
    with Server(test, fabric) as server:
        server.change("sm", "stop")
        listener = Listener(test, "node")
        test.same(listener.samples()["ibsa_event_subscribed"], 0, "no SM")
        server.change("sm", "start")
        samples = listener.until(lambda s: s["ibsa_event_subscribed"] == 1)
        test.same(samples["ibsa_event_subscribed"], 1, "subscribed later")
        listener.end()
        subscriptions = test.rows("query", "table", "IIR", status=None)
        test.same(subscriptions, [], "subscriptions after the end")
    return test.finish()


def peers_are_read_again(test):
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("node2\n")
        file.flush()
        listener = Listener(test, "node", "--peers", file.name)
        test.same(of(listener.samples(), "ibsa_peer_reachable", "peer"),
                  {"node2": 1}, "peers")
        listener.end()
        file.write("guid:x\n")
        file.flush()
        test.run("metrics", "--listen", "0", "--peers", file.name, status=2)


def all_others(ibsa, fabric):
    test = Test(ibsa)
    with Server(test, fabric) as server:
        listener = Listener(test)
        both_formats_have_the_values(test, listener)
        later = events_are_those_of_watch(test, server, listener)
        scrapers_share_a_collection(test, listener)
        wrong_clients_do_no_harm(test, listener)
        slow_clients_keep_no_scraper_out(test, listener)
        one_connection_has_one_request(test, listener)
        addresses_are_checked(test, listener)
        another_program_has_the_reports(test)
        peers_are_read_again(test)
        later()
        listener.end()
    return test.finish()


def main(*args):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        runs = [pool.submit(run, *args)
                for run in (all_others, an_sm_that_starts_later)]
        return any([run.result() for run in runs])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
