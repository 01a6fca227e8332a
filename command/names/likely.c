/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the name of a node that a misspelt one stands for. */
#include <stdio.h>
#include <string.h>

#include "common/host.h"
#include "common/nearest.h"
#include "names/likely.h"

/*
 * Set *@at to the next number before @end, without leading zeros, and behind
 * it afterwards. Return: the number of its digits; 0: there is no further one,
 * or it is 0.
 */
static size_t number_next(const char **at, const char *end, const char **out)
{
	static const char digits[] = "0123456789";
	const char *from = *at;

	while (from < end && !memchr(digits, *from, 10))
		from++;
	while (from < end && *from == '0')
		from++;
	*out = from;
	while (from < end && memchr(digits, *from, 10))
		from++;
	*at = from;
	return (size_t)(from - *out);
}

/* Whether the numbers in two names are the same. */
static bool has_same_numbers(const char *a, size_t a_len, const char *b)
{
	const char *const a_end = a + a_len;
	const char *const b_end = b + strlen(b);

	while (a < a_end || b < b_end) {
		const char *x, *y;
		const size_t len = number_next(&a, a_end, &x);

		if (len != number_next(&b, b_end, &y) || memcmp(x, y, len) != 0)
			return false;
	}
	return true;
}

/* Copy the name of a host, or the whole description of another node. */
static void name_copy(const struct ibsa_node *node, char out[NODE_NAME_TEXT])
{
	const char *text = node->node_description;
	const bool is_host = node->node_type == IBSA_NODE_CA &&
			     *ibsa__host_device(text);

	snprintf(out, NODE_NAME_TEXT, "%.*s",
		 (int)(is_host ? strcspn(text, " ") : strlen(text)), text);
}

bool node_name_likely(const struct ibsa_node *nodes, size_t count,
		      const char *name, char out[NODE_NAME_TEXT])
{
	struct nearest nearest = ibsa__nearest_start(name, strcspn(name, "/"),
						     false);
	char text[NODE_NAME_TEXT];

	for (size_t i = 0; i < count; i++) {
		name_copy(&nodes[i], text);
		if (!has_same_numbers(name, nearest.len, text))
			continue;
		ibsa__nearest_try(&nearest, text);
		if (nearest.name == text) {
			memcpy(out, text, sizeof(text));
			nearest.name = out;
		}
	}
	return nearest.name;
}
