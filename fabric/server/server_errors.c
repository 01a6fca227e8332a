/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The text command that counts errors at a port, once or at a rate. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "fabric/mad/counters.h"
#include "fabric/server/server.h"

enum {
	LINE_MAX_CHARS = 512,
	DIGITS_MAX = 18,
};

/* The command's arguments. */
struct increase {
	char port_name[LINE_MAX_CHARS]; /* NODE/PORT */
	char node[NODE_MAX_CHARS];
	unsigned int port;
	enum counted what;
	uint64_t by;
	bool is_rate;
};

static void blanks_cut(char *text)
{
	size_t len = strlen(text);

	while (len && strchr(" \t", text[len - 1]))
		len--;
	text[len] = '\0';
}

/*
 * Cut the last word off a text. The name of a node may have blanks, and is at
 * the beginning. Return: the word; NULL: nothing is left before it.
 */
static char *word_cut(char *text)
{
	char *word;

	blanks_cut(text);
	word = text + strlen(text);
	while (word > text && !strchr(" \t", word[-1]))
		word--;
	if (word == text)
		return NULL;
	word[-1] = '\0';
	blanks_cut(text);
	return word;
}

/* Parse "+N", "+N/s" or "0/s". */
static bool amount_parse(const char *text, struct increase *out)
{
	const bool has_plus = *text == '+';
	const char *digits = text + has_plus;
	const size_t count = strspn(digits, "0123456789");
	const char *rest = digits + count;

	if (!count || count > DIGITS_MAX)
		return false;
	out->by = strtoull(digits, NULL, 10);
	out->is_rate = !strcmp(rest, "/s");
	if (!has_plus && (out->by || !out->is_rate))
		return false;
	return out->is_rate || !*rest;
}

static int increase_parse(const char *args, struct increase *out,
			  struct ibsa_error *error)
{
	char *text = out->port_name;
	const char *amount = NULL;
	const char *name = NULL;

	if (strlen(args) < sizeof(out->port_name)) {
		strcpy(text, args);
		amount = word_cut(text);
		name = amount ? word_cut(text) : NULL;
	}
	if (!name)
		return ibsa__fail(error, -EINVAL,
				  "errors needs NODE/PORT, a counter and +N or "
				  "+N/s, such as node1/1 SymbolErrorCounter "
				  "+3/s");
	if (!amount_parse(amount, out))
		return ibsa__fail(error, -EINVAL,
				  "'%.32s' is not a number of errors: use +N, "
				  "+N/s, or 0/s to end a rate, with at most "
				  "%d digits",
				  amount, DIGITS_MAX);
	if (!ibsa__counter_find(name, &out->what))
		return ibsa__fail(error, -EINVAL,
				  "'%.64s' is not a counter: use a name that "
				  "perfquery shows, such as "
				  "SymbolErrorCounter or PortRcvErrors",
				  name);
	return ibsa__port_name_split(text, out->node, &out->port, error);
}

static int increase_apply(struct ibsa_fabric *fabric,
			  const struct increase *increase)
{
	const uint32_t node = ibsa__fabric_find_node(fabric, increase->node);
	const struct topo_port *port;
	struct mad_net *net;
	uint32_t index;

	if (node == NO_INDEX)
		return -ENODEV;
	index = ibsa__fabric_find_port(fabric, node, increase->port);
	if (index == NO_INDEX)
		return -ENXIO;
	net = &fabric_part_of(fabric, index)->net;
	port = &net->subnet->topo.ports[index];
	if (!increase->is_rate)
		return ibsa__counter_increase(net, port, increase->what,
					      increase->by);
	return ibsa__counter_rate_set(net, port, increase->what, increase->by,
				      fabric_clock_now(&fabric->clock));
}

int ibsa__fabric_errors(struct ibsa_fabric *fabric, const char *args,
			struct ibsa_error *error)
{
	struct increase increase = { .by = 0 };
	int err = increase_parse(args, &increase, error);

	if (err)
		return err;
	pthread_mutex_lock(&fabric->lock);
	err = increase_apply(fabric, &increase);
	pthread_mutex_unlock(&fabric->lock);
	return err ? ibsa__change_failed(increase.port_name, err, error) : 0;
}
