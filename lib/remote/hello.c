/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a hello, which any program may have sent. */
#include <errno.h>
#include <string.h>

#include "remote/protocol.h"

int ibsa__remote_hello_read(const void *body, size_t len,
			    struct remote_greeting *out)
{
	struct remote_greeting greeting = { .token = { 0 } };

	if (len < sizeof(greeting.hello) || len > REMOTE_HELLO_MAX)
		return -EPROTO;
	memcpy(&greeting, body,
	       len < sizeof(greeting) ? len : sizeof(greeting));
	/* The version of a client with another byte order is very large. */
	if (greeting.hello.version < REMOTE_VERSION_FIRST ||
	    greeting.hello.version > UINT16_MAX)
		return -EPROTONOSUPPORT;
	if (!remote_names_end(&greeting.hello))
		return -EPROTO;
	if (greeting.hello.version > REMOTE_VERSION)
		greeting.hello.version = REMOTE_VERSION;
	greeting.hello.features &= REMOTE_FEATURES;
	*out = greeting;
	return 0;
}
