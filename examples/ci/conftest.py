# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A fixture for pytest: programs as processes of the hosts of a fabric server.

The fixture of ibsa.pytest_plugin is for clients in the process of the test, on a
virtual clock; this one is for unmodified programs.
"""

import os
import pathlib
import subprocess
from typing import Dict, Iterator

import pytest

FILE = os.environ.get("FABRIC_FILE", "/usr/share/ibsa/fabrics/dgx.net")


class Fabric:
    """A fabric server; @capture is a pcap file of its packets."""

    def __init__(self, environment: Dict[str, str], capture: pathlib.Path):
        self.environment = environment
        self.capture = capture

    def run(self, host: str, *command: str) -> str:
        """Run a program at a host; return its output."""
        return subprocess.run(
            command, env={**self.environment, "IBSA_NODE": host},
            stdout=subprocess.PIPE, check=True, text=True).stdout

    def change(self, *command: str) -> None:
        """Change the fabric: change("link", "down", "dgx1 mlx5_2/1")."""
        subprocess.run(["ibsa", "fabric", *command], env=self.environment,
                       check=True)


@pytest.fixture
def fabric(tmp_path: pathlib.Path) -> Iterator[Fabric]:
    """The server runs until its command, cat, reads the end of its input."""
    capture = tmp_path / "fabric.pcap"
    with subprocess.Popen(
            ["ibsa", "fabric", "exec", "--verbs", "--record", str(capture), FILE,
             "--", "sh", "-c", "env -0; echo; exec cat"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin and server.stdout
        text = b""
        while not text.endswith(b"\0\n"):
            line = server.stdout.readline()
            assert line, "the fabric server has ended"
            text += line
        yield Fabric(dict(item.split("=", 1) for item in
                          text.decode().split("\0")[:-1]), capture)
        server.stdin.close()
