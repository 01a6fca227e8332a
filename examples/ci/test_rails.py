# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests of programs at hosts with eight rails: pytest-3 test_rails.py"""

from conftest import Fabric


def test_each_rail_is_active(fabric: Fabric) -> None:
    for rail in range(8):
        assert "PORT_ACTIVE" in fabric.run("dgx1", "ibv_devinfo", "-d",
                                           f"mlx5_{rail}")


def test_cut_cable(fabric: Fabric) -> None:
    fabric.change("link", "down", "dgx2 mlx5_3/1")
    assert "PORT_DOWN" in fabric.run("dgx2", "ibv_devinfo", "-d", "mlx5_3")
    assert "PORT_ACTIVE" in fabric.run("dgx1", "ibv_devinfo", "-d", "mlx5_3")


def test_capture(fabric: Fabric) -> None:
    fabric.run("dgx1", "saquery", "-C", "mlx5_0", "-P", "1", "NR")
    assert fabric.capture.read_bytes()[:4] in (b"\xd4\xc3\xb2\xa1",
                                               b"\x4d\x3c\xb2\xa1")
