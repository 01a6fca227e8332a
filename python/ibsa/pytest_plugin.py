# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A fixture for pytest: embedded fabrics on a virtual clock.

In conftest.py: pytest_plugins = ["ibsa.pytest_plugin"]
"""

import os
from typing import Any, Callable, Iterator, List, Union

import pytest

from ._fabric import Fabric

FabricLoader = Callable[..., Fabric]


@pytest.fixture
def ibsa_fabric() -> Iterator[FabricLoader]:
    """A function that loads a fabric from a file, or from the text of one.

    The clock is virtual unless virtual_clock=False is given; the other options
    are those of Fabric.load(). After the test, the fabrics and their clients
    are closed.
    """
    fabrics: List[Fabric] = []

    def load(source: "Union[str, os.PathLike[str]]", **options: Any) -> Fabric:
        options.setdefault("virtual_clock", True)
        if isinstance(source, str) and "\n" in source:
            fabrics.append(Fabric.parse(source, **options))
        else:
            fabrics.append(Fabric.load(source, **options))
        return fabrics[-1]

    yield load
    for fabric in fabrics:
        for client in list(fabric._clients):
            client.close()
        fabric.close()
