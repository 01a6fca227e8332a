# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the tests of ibsa metrics share."""
import json
import os
import subprocess
import sys
import tempfile

try:
    from prometheus_client import parser as classic
    from prometheus_client.openmetrics import parser as openmetrics
except ImportError:
    print("needs python3-prometheus-client", file=sys.stderr)
    sys.exit(77)

# Largest number of series by the manual page: SERIES, and PORT_SERIES more for
# each port of the machine and for each peer.
SERIES, PORT_SERIES = 110, 8


class Test:
    """Runs the command, and counts failed checks."""

    def __init__(self, ibsa):
        self.ibsa = os.path.realpath(ibsa)
        self.env = {name: value for name, value in os.environ.items()
                    if name not in ("IBSA_FABRIC", "IBSA_NODE", "SYSFS_PATH",
                                    "XDG_RUNTIME_DIR")}
        self.failed = 0
        self.count = 0

    def expect(self, is_met, what):
        self.count += 1
        if not is_met:
            self.failed += 1
            print("FAIL:", what, flush=True)

    def same(self, ours, wanted, what):
        if isinstance(ours, dict) and isinstance(wanted, dict):
            differ = {name for name in {*ours, *wanted}
                      if ours.get(name) != wanted.get(name)}
            ours = {name: ours.get(name) for name in differ}
            wanted = {name: wanted.get(name) for name in differ}
        self.expect(ours == wanted, f"{what}: {ours!r}, not {wanted!r}")

    def run(self, *args, status=0, env=None):
        run = subprocess.run([self.ibsa, *args], env=env or self.env,
                             check=False, capture_output=True,
                             stdin=subprocess.DEVNULL)
        error = run.stderr.decode()
        if status is not None:
            self.same(run.returncode, status,
                      f"exit status of {args}: {error}")
        self.expect("Sanitizer" not in error and "runtime error" not in error,
                    error)
        return run.stdout.decode(), error

    def rows(self, *args, status=0):
        return json.loads(self.run("-j", *args, status=status)[0])

    def metrics(self, *args, status=0):
        """Return the samples of ibsa metrics. A key is a name, or a tuple of
        a name and labels."""
        return self.samples(self.run("metrics", *args, status=status)[0])

    def samples(self, text):
        """Return the samples in a text in the OpenMetrics format. If it has
        no counters, the parser of text format 0.0.4 must find the same
        samples."""
        found = {}
        self.expect(text.endswith("# EOF\n"), "the last line is not # EOF")
        families = list(openmetrics.text_string_to_metric_families(text))
        for family in families:
            self.expect(family.documentation, f"{family.name} has no help")
            self.expect(family.samples, f"{family.name} has no sample")
            for sample in family.samples:
                found[key(sample)] = sample.value
        if not any(family.type == "counter" for family in families):
            self.same(classic_samples(text), found, "text format 0.0.4")
        return found

    def finish(self):
        print(f"{self.count} checks, {self.failed} failed")
        return self.failed != 0


def key(sample):
    labels = tuple(sorted(sample.labels.items()))
    return (sample.name, *labels) if labels else sample.name


def classic_samples(text):
    return {key(sample): sample.value
            for family in classic.text_string_to_metric_families(text)
            for sample in family.samples}


def of(samples, name, label):
    """The samples of NAME, by the value of a label."""
    return {dict(found[1:])[label]: value for found, value in samples.items()
            if isinstance(found, tuple) and found[0] == name}


def labels_of(samples, name):
    """The labels of each sample of NAME."""
    return [dict(found[1:]) for found in samples
            if isinstance(found, tuple) and found[0] == name]


class Server:
    """A fabric server, which the test's commands use."""

    def __init__(self, test, fabric, *args):
        self.test = test
        self.folder = tempfile.TemporaryDirectory()
        path = os.path.join(self.folder.name, "s")
        self.process = subprocess.Popen(
            [test.ibsa, "fabric", "run", fabric, "--socket", path, *args],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=test.env)
        self.process.stdout.readline()
        test.env["IBSA_FABRIC"] = "unix:" + path

    def change(self, *args):
        self.test.run("fabric", *args)

    def __enter__(self):
        return self

    def __exit__(self, *reason):
        del self.test.env["IBSA_FABRIC"]
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()
        self.folder.cleanup()
