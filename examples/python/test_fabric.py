# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests on embedded fabrics: pytest-3 test_fabric.py"""

import errno
import pathlib
from typing import Callable

import ibsa
import pytest

pytest_plugins = ["ibsa.pytest_plugin"]
# The fabrics are beside this folder in the source, or of the package ibsa.
SOURCE = pathlib.Path(__file__).parent.parent / "fabrics"
FABRICS = SOURCE if SOURCE.is_dir() else pathlib.Path("/usr/share/ibsa/fabrics")

TWO_HOSTS = """
Switch 2 "S-1"  # "switch"
[1] "H-1"[1]    # "one" 4xEDR
[2] "H-2"[1]    # "two" 4xEDR
Ca 1 "H-1"      # "one"
[1] "S-1"[1]
Ca 1 "H-2"      # "two"
[1] "S-1"[2]
"""


def test_silent_sa(ibsa_fabric: Callable[..., ibsa.Fabric]) -> None:
    """Ten seconds of the virtual clock take no time."""
    fabric = ibsa_fabric(TWO_HOSTS)
    fabric.fault("silence=100")
    with fabric.open("one") as client:
        with pytest.raises(ibsa.Error) as caught:
            client.query(ibsa.NodeRecord)
    assert caught.value.errno == errno.ETIMEDOUT


def test_lost_link(ibsa_fabric: Callable[..., ibsa.Fabric]) -> None:
    fabric = ibsa_fabric(FABRICS / "four-hosts.net")
    gids = {port.node: port.state.gid for port in fabric.ports()}
    with fabric.open("node1") as client:
        assert client.reach(gids["node2"])
        fabric.link_down("node2")
        assert not client.reach(gids["node2"])


def test_lease_is_renewed(ibsa_fabric: Callable[..., ibsa.Fabric]) -> None:
    fabric = ibsa_fabric(FABRICS / "four-hosts.net")
    with fabric.open("node1") as client, fabric.open("node2") as other:
        with client.register(service_id=1, service_lease=60):
            for _ in range(30):
                fabric.advance_ms(10000)
                client.wait(0)
            assert len(other.query(ibsa.ServiceRecord)) == 1
        assert not other.query(ibsa.ServiceRecord)
