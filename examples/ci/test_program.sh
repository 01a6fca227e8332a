# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: test_program.sh STATE
#
# Stands for the tests of a program: the port of mlx5_2 has this state in libibverbs
# and libibumad, and the SA answers.
set -e
ibv_devinfo -d mlx5_2 | grep "state:.*$1"
ibstat mlx5_2 1 | grep State
saquery -C mlx5_0 -P 1 NR >/dev/null
