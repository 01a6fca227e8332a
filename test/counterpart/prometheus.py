#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The steps of prometheus.sh.

usage: prometheus.py IBSA EXAMPLES PROGRAMS

PROGRAMS has prometheus, promtool and prometheus-node-exporter.
"""
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "../command"))
# pylint: disable=wrong-import-position
from metrics_listen import Listener, clients_are_ended  # noqa: E402
from metrics_support import Server, Test, classic_samples, of  # noqa: E402

CONFIG = """
global:
  scrape_interval: 1s
  evaluation_interval: 1s
rule_files: [ alerts.yml ]
scrape_configs:
  - job_name: ibsa
    static_configs: [ { targets: [ "127.0.0.1:%d" ] } ]
  - job_name: node
    static_configs: [ { targets: [ "127.0.0.1:%d" ] } ]
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def get(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}",
                                timeout=10) as reply:
        return reply.read().decode()


def until(what, is_done, seconds=60):
    """Return the first true result of is_done(). Exit if there is none in
    time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if result := is_done():
                return result
        except OSError:
            pass
        time.sleep(0.2)
    sys.exit(f"prometheus.py: {what} within {seconds} s")


class Prometheus:
    """The processes of Prometheus and of the node exporter."""

    def __init__(self, programs, folder, examples, target):
        self.port, self.node_port = free_port(), free_port()
        with open(os.path.join(examples, "monitoring/ibsa-alerts.yml"),
                  encoding="utf-8") as file:
            rules = re.sub(r" for: \d+m", " for: 1s", file.read())
        with open(os.path.join(folder, "alerts.yml"), "w",
                  encoding="utf-8") as file:
            file.write(rules)
        with open(os.path.join(folder, "prometheus.yml"), "w",
                  encoding="utf-8") as file:
            file.write(CONFIG % (target, self.node_port))
        self.log = open(os.path.join(folder, "log"), "w", encoding="utf-8")
        self.processes = [self.start(*command) for command in (
            (os.path.join(programs, "prometheus"),
             f"--config.file={folder}/prometheus.yml",
             f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address=127.0.0.1:{self.port}"),
            (os.path.join(programs, "prometheus-node-exporter"),
             "--collector.disable-defaults", "--collector.textfile",
             f"--collector.textfile.directory={folder}",
             f"--web.listen-address=127.0.0.1:{self.node_port}"))]
        until("Prometheus is ready", lambda: get(self.port, "/-/ready"))

    def start(self, *command):
        return subprocess.Popen(command, stdout=self.log, stderr=self.log,
                                env={"PATH": "/nowhere", "HOME": "/"})

    def data(self, path):
        return json.loads(get(self.port, "/api/v1/" + path))["data"]

    def values(self, query):
        found = self.data("query?query=" + urllib.parse.quote(query))["result"]
        return [(row["metric"], float(row["value"][1])) for row in found]

    def firing(self):
        return {alert["labels"]["alertname"] for alert in
                self.data("alerts")["alerts"] if alert["state"] == "firing"}

    def end(self):
        for process in self.processes:
            process.terminate()
            process.wait()
        self.log.close()


def the_alerts_fire_for_series(test, programs, folder, examples):
    """promtool tests the cases of alerts.yml, with the real durations of
    alerts."""
    os.symlink(os.path.realpath(os.path.join(
        examples, "monitoring/ibsa-alerts.yml")),
               os.path.join(folder, "alerts.yml"))
    cases = os.path.join(folder, "cases.yml")
    os.symlink(os.path.join(HERE, "alerts.yml"), cases)
    run = subprocess.run([os.path.join(programs, "promtool"), "test", "rules",
                          cases], check=False, capture_output=True, text=True)
    test.same(run.returncode, 0, f"cases of alerts: {run.stdout}{run.stderr}")


def promtool_accepts(test, programs, folder, texts):
    promtool = os.path.join(programs, "promtool")
    runs = [((promtool, "check", "rules", f"{folder}/alerts.yml"), None),
            ((promtool, "check", "config", f"{folder}/prometheus.yml"), None)]
    runs += [((promtool, "check", "metrics"), text) for text in texts]
    for command, text in runs:
        run = subprocess.run(command, input=text, text=True, check=False,
                             capture_output=True)
        test.same((run.returncode, run.stderr), (0, ""),
                  f"{command[1:3]}: {run.stdout}")


def prometheus_has_the_values(test, prometheus, listener):
    until("values", lambda: prometheus.values("ibsa_sa_up"))
    samples = listener.samples()
    for key, value in samples.items():
        name = key if isinstance(key, str) else key[0]
        if "seconds" in name or name.endswith("_total"):
            continue
        labels = "".join(f'{label}="{text}",' for label, text in
                         (() if isinstance(key, str) else key[1:]))
        found = prometheus.values(f'{name}{{job="ibsa",{labels}}}')
        test.same([row[1] for row in found], [value], f"{key}")
    types = {name: rows[0]["type"] for name, rows in
             prometheus.data("metadata").items() if name.startswith("ibsa_")}
    test.same({types["ibsa_events"], types["ibsa_sa_answers"]}, {"counter"},
              "types of OpenMetrics")


def the_dashboard_has_values(test, prometheus, examples):
    """Each query of the dashboard has values, for all machines."""
    with open(os.path.join(examples, "monitoring/ibsa-grafana.json"),
              encoding="utf-8") as file:
        queries = [target["expr"] for panel in json.load(file)["panels"]
                   for target in panel.get("targets", ())]
    test.expect(len(queries) > 15, f"{len(queries)} queries")
    for query in queries:
        for name, value in (("$job", "ibsa"), ("$instance", ".+"),
                            ("$__rate_interval", "1m")):
            query = query.replace(name, value)
        until(f"values of {query}", lambda q=query: prometheus.values(q))


def the_node_exporter_reads_the_file(test, prometheus, folder):
    """The node exporter reads two files, as from a machine in two fabrics."""
    wanted = {}
    for name, args in (("ibsa", ()), ("ibsa-2", ("--label", "fabric=two"))):
        path = f"{folder}/{name}.prom"
        test.run("metrics", "node", "node2", "-o", path, *args)
        with open(path, encoding="utf-8") as file:
            wanted.update(test.samples(file.read()))
    text = get(prometheus.node_port, "/metrics")
    found = classic_samples(text)
    test.same(found["node_textfile_scrape_error"], 0, "textfile collector")
    test.same({key: found.get(key) for key in wanted}, wanted, "values")
    until("values of the file", lambda: prometheus.values(
        'ibsa_peer_reachable{job="node",peer="node2"}'))


def the_node_exporter_reads_a_host(test, programs, folder, examples):
    """Its collector of InfiniBand reads the device files of a host."""
    port, tree = free_port(), os.path.join(folder, "sys")

    def rates():
        return of(classic_samples(get(port, "/metrics")),
                  "node_infiniband_rate_bytes_per_second", "device")

    with Server(test, os.path.join(examples, "fabrics/dgx.net")) as server, \
            subprocess.Popen([test.ibsa, "fabric", "sysfs", "dgx1", tree],
                             stdout=subprocess.PIPE, env=test.env) as files:
        files.stdout.readline()
        exporter = subprocess.Popen(
            [os.path.join(programs, "prometheus-node-exporter"),
             "--collector.disable-defaults", "--collector.infiniband",
             f"--path.sysfs={tree}", f"--web.listen-address=127.0.0.1:{port}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wanted = {f"mlx5_{i}": 400e9 / 8 for i in range(8)}
            wanted |= {"mlx5_8": 200e9 / 8, "mlx5_9": 100e9 / 8}
            test.same(until("rates of a host", rates), wanted, "rates of dgx1")
            server.change("link", "speed", "dgx1 mlx5_2/1", "4xSDR")
            until("the rate of a slow link",
                  lambda: rates() == {**wanted, "mlx5_2": 10e9 / 8}, 5)
        finally:
            exporter.terminate()
            exporter.wait()
            files.terminate()


def alerts_fire(test, prometheus, server):
    """Cause one alert after another, and end each before the next."""
    test.same(prometheus.firing(), set(), "alerts of a whole fabric")
    for cause, cure, alert in (
            (("link", "speed", "leaf one/8", "4xSDR"),
             ("link", "speed", "leaf one/8", "4xEDR"), "IbsaLinkDegraded"),
            (("link", "down", "node1 mlx5_0/2"),
             ("link", "up", "node1 mlx5_0/2"), "IbsaPortDown"),
            (("fault", "silence=100"), ("fault", "none"), "IbsaSaDown"),
            (("fault", "lose=100"), ("fault", "none"), "IbsaIncomplete")):
        server.change(*cause)
        start = time.monotonic()
        until(alert, lambda name=alert: name in prometheus.firing())
        print(f"{alert} after {time.monotonic() - start:.1f} s")
        server.change(*cure)
        until(f"no {alert}",
              lambda name=alert: name not in prometheus.firing())
    server.change("sm", "move", "node2 mlx5_0")
    until("IbsaSmChanged", lambda: "IbsaSmChanged" in prometheus.firing())


def main(ibsa, examples, programs):
    test = Test(ibsa)
    fabric = os.path.join(HERE, "../command/cli.net")
    with tempfile.TemporaryDirectory() as folder:
        the_alerts_fire_for_series(test, programs, folder, examples)
        the_node_exporter_reads_a_host(test, programs, folder, examples)
    with tempfile.TemporaryDirectory() as folder, \
            Server(test, fabric) as server:
        listener = Listener(test, "-t", "300")
        prometheus = Prometheus(programs, folder, examples, listener.port)
        try:
            promtool_accepts(test, programs, folder,
                             [test.run("metrics", "node", "node2")[0],
                              listener.get("text/plain")[0]])
            prometheus_has_the_values(test, prometheus, listener)
            the_dashboard_has_values(test, prometheus, examples)
            the_node_exporter_reads_the_file(test, prometheus, folder)
            alerts_fire(test, prometheus, server)
            clients_are_ended(test, listener)
        finally:
            prometheus.end()
            listener.end()
    return test.finish()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
