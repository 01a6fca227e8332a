/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The static libibsa opens no topology file or capture. */
#include <errno.h>

#include "base/error.h"
#include "client/fabric_library.h"

int ibsa__fabric_library(struct ibsa_error *error,
			 const struct fabric_ops **out)
{
	(void)out;
	return ibsa__fail(error, -EOPNOTSUPP,
			  "the static libibsa opens no topology file or "
			  "capture; link the program with libibsa.so, or use a "
			  "fabric server");
}
