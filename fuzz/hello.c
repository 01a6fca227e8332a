/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes what a stranger may send to a fabric server, and what stands in a file
 * of a token and in an address: a hello, a token, and HOST:PORT.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote/tcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
	if (!condition)
		abort();
}

static void hello_read(const uint8_t *data, size_t size)
{
	struct remote_greeting greeting;
	const struct remote_hello *hello = &greeting.hello;

	if (ibsa__remote_hello_read(data, size, &greeting))
		return;
	must(size >= sizeof(*hello) && size <= REMOTE_HELLO_MAX);
	must(hello->version >= REMOTE_VERSION_FIRST &&
	     hello->version <= REMOTE_VERSION);
	must(!(hello->features & ~REMOTE_FEATURES));
	must(strlen(hello->node) <= REMOTE_NODE_MAX &&
	     strlen(hello->device) <= REMOTE_NODE_MAX &&
	     strlen(hello->name) <= REMOTE_NODE_MAX);
	must(!memcmp(hello->node, data + 8, sizeof(hello->node)));
	for (size_t i = 0; i < sizeof(greeting.token); i++)
		must(greeting.token[i] == (sizeof(*hello) + i < size
						   ? data[sizeof(*hello) + i]
						   : 0));
}

/* The token, written again, is the text without regard to case and newline. */
static void token_read(const char *text, size_t size)
{
	struct tcp_token token;
	char again[3];

	if (ibsa__token_parse(text, size, &token))
		return;
	for (size_t i = 0; i < sizeof(token.bytes); i++) {
		snprintf(again, sizeof(again), "%02x", token.bytes[i]);
		must(again[0] == tolower(text[2 * i]) &&
		     again[1] == tolower(text[2 * i + 1]));
	}
	must(size == 2 * sizeof(token.bytes) ||
	     (size == 2 * sizeof(token.bytes) + 1 && text[size - 1] == '\n'));
}

/* A name, written again, is read as the same. */
static void name_read(const char *text, size_t size)
{
	union tcp_name name = { .in6 = { 0 } }, again = { .in6 = { 0 } };
	char host[INET6_ADDRSTRLEN];
	char written[80];

	if (ibsa__tcp_name_parse(text, size, &name))
		return;
	if (name.any.sa_family == AF_INET6) {
		must(inet_ntop(AF_INET6, &name.in6.sin6_addr, host,
			       sizeof(host)) != NULL);
		snprintf(written, sizeof(written), "[%s]:%u", host,
			 ntohs(name.in6.sin6_port));
	} else {
		must(inet_ntop(AF_INET, &name.in.sin_addr, host,
			       sizeof(host)) != NULL);
		snprintf(written, sizeof(written), "%s:%u", host,
			 ntohs(name.in.sin_port));
	}
	must(!ibsa__tcp_name_parse(written, strlen(written), &again));
	must(!memcmp(&name, &again, sizeof(name)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	hello_read(data, size);
	token_read((const char *)data, size);
	name_read((const char *)data, size);
	return 0;
}
