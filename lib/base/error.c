/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Texts of errors. */
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"

int ibsa__fail(struct ibsa_error *error, int err, const char *format, ...)
{
	va_list args;

	if (!error)
		return err;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return err;
}
