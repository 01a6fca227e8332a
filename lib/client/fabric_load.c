/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads libibsa-fabric, in the shared libibsa. */
#include <dlfcn.h>
#include <errno.h>

#include "base/error.h"
#include "client/fabric_library.h"
#include "common/library.h"

#define LIBRARY "libibsa-fabric.so.1"
#define PACKAGE "libibsa-fabric1"

int ibsa__fabric_library(struct ibsa_error *error,
			 const struct fabric_ops **out)
{
	static const char here;
	/*
	 * Never closed: the library is linked so that it stays loaded, and a
	 * further dlopen() of a loaded library is cheap.
	 */
	void *library = ibsa__library_load(LIBRARY, &here);
	const struct fabric_ops *ops;
	int err;

	if (!library)
		return ibsa__fail(error, -EOPNOTSUPP,
				  "a topology file or capture needs " LIBRARY
				  ", which cannot be loaded: %s; install the "
				  "package " PACKAGE,
				  dlerror());
	ops = dlsym(library, "ibsa__fabric_ops");
	err = ibsa__fabric_ops_check(ops, error);
	if (!err)
		*out = ops;
	return err;
}
