# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the tests of the Python module share."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

import ibsa

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOUR_HOSTS = ROOT / "examples/fabrics/four-hosts.net"
HOST2 = "fe80::2:c90:300b:201"


def default(name):
    """The value of IBSA_DEFAULT_NAME."""
    text = (ROOT / "include/ibsa/types.h").read_text()
    return int(re.search(rf"^#define IBSA_DEFAULT_{name} (\d+)", text, re.M)[1])


# Exceptions that C would have lost.
unraisable = []
sys.unraisablehook = unraisable.append


def python(program, *arguments, **variables):
    """Run a program in an interpreter of its own."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program, *arguments],
        capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, **variables})


class FabricTest(unittest.TestCase):
    """Each test has a fabric of four hosts on the real clock, and a client."""

    options = {}

    def setUp(self):
        self.fabric = ibsa.Fabric.load(FOUR_HOSTS, **self.options)
        self.client = self.fabric.open()
        self.gids = [port.state.gid for port in self.fabric.ports()]

    def tearDown(self):
        self.client.close()
        self.fabric.close()

        self.assertEqual(unraisable, [])

    def error(self, function, *arguments, **named):
        with self.assertRaises(ibsa.Error) as caught:
            function(*arguments, **named)
        return caught.exception
