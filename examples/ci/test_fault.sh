# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The tests of a program, before and after a cable is cut.
sh test_program.sh PORT_ACTIVE
ibsa fabric link down "dgx1 mlx5_2/1"
sh test_program.sh PORT_DOWN
