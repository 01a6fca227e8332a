/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The slot of an adapter, in the comment of its node's line. */
#include <errno.h>

#include "topology/net_parse.h"

/*
 * Parse DDDD:BB:DD.F, in hexadecimal digits as the kernel writes it. Return:
 * false: it is not a PCI address.
 */
static bool take_pci(struct cursor *line, uint32_t *out)
{
	static const struct {
		const char *end;
		uint64_t max;
	} parts[] = { { ":", 0xffff }, { ":", 0xff }, { ".", 31 }, { "", 7 } };
	uint64_t at[4];

	for (size_t i = 0; i < 4; i++)
		if (!ibsa__cursor_number(line, 16, &at[i]) ||
		    at[i] > parts[i].max || !cursor_take(line, parts[i].end))
			return false;
	*out = net_pci((uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2],
		       (uint32_t)at[3]);
	return *out;
}

static bool is_word_end(const struct cursor *line)
{
	return line->at == line->end || cursor_is_blank(*line->at);
}

int ibsa__net_parse_slot(struct net_parser *parser, struct cursor line,
			 struct net_node *node)
{
	struct cursor pci = line;
	struct cursor numa = line;
	uint64_t number;

	if (ibsa__cursor_find(&pci, "pci=") &&
	    (!take_pci(&pci, &node->pci) || !is_word_end(&pci)))
		return ibsa__net_parse_fail(parser, -EINVAL,
					    "a PCI address, such as "
					    "0000:18:00.0, must follow pci=");
	if (!ibsa__cursor_find(&numa, "numa="))
		return 0;
	if (!ibsa__cursor_number(&numa, 10, &number) || number >= UINT8_MAX ||
	    !is_word_end(&numa))
		return ibsa__net_parse_fail(
			parser, -EINVAL,
			"the number of a NUMA node, 0 to %d, must follow numa=",
			UINT8_MAX - 1);
	node->numa = (uint8_t)(number + 1);
	return 0;
}
