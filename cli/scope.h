/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which devices and ports a command is about. */
#ifndef CLI_SCOPE_H
#define CLI_SCOPE_H

#include "cli.h"

struct scope {
	const char *device; /* NULL: all */
	unsigned int port;  /* 0: all of the device */
	const char *fabric; /* whose devices they are; or NULL or "" */
	char *owned;	    /* what @device points to, if it was cut */
};

/*
 * What "DEVICE" or "DEVICE/PORT" names; the rest as below. *@out is zero
 * before.
 */
int scope_parse(const char *text, struct scope *out);

/*
 * What the one argument DEVICE[/PORT] names, or --device and --port; to be
 * freed in any case. Return: the exit status; what is wrong has been said.
 */
int scope_find(const struct cli *cli, struct scope *out);
void scope_free(struct scope *scope);

bool scope_has_device(const struct scope *scope, const char *device);
bool scope_has_port(const struct scope *scope, unsigned int port);

/* That there is no such device, or that it has no such port. */
void scope_none(const struct scope *scope, bool has_device,
		struct ibsa_error *out);

#endif
