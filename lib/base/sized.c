/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copies structs that cross the interface with their size. */
#include <string.h>

#include "base/sized.h"

int ibsa__sized_read(void *out, size_t known, const void *in, size_t size)
{
	const char *bytes = in;

	if (!in || size < known) {
		memset(out, 0, known);
		if (in)
			memcpy(out, in, size);
		return 0;
	}
	memcpy(out, in, known);
	for (size_t i = known; i < size; i++) {
		if (bytes[i])
			return -E2BIG;
	}
	return 0;
}

int ibsa__too_new_fail(struct ibsa_error *error)
{
	return ibsa__fail(error, -E2BIG,
			  "the program sets an option that this version of "
			  "the library does not have; install the version of "
			  "ibsa for which the program was built");
}

int ibsa__options_read(void *out, size_t known, const void *in, size_t size,
		       struct ibsa_error *error)
{
	const int err = ibsa__sized_read(out, known, in, size);

	return err ? ibsa__too_new_fail(error) : 0;
}

void ibsa__sized_write(void *out, size_t size, const void *in, size_t known)
{
	if (size <= known) {
		memcpy(out, in, size);
		return;
	}
	memcpy(out, in, known);
	memset((char *)out + known, 0, size - known);
}
