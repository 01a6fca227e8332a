/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the targets of ibsa reach as text. */
#include <string.h>

#include "output/fields.h"
#include "reach/reach.h"

/*
 * Write a target's text safely; it is cleaned in parts, because
 * ibsa__text_clean() has a length limit.
 */
const char *reach_target_text(const struct reach_target *target,
			      char out[REACH_TEXT])
{
	enum { PIECE = 64 };
	const char *text = target->text;
	char piece[IBSA_VALUE_TEXT];

	if (!text) {
		if (ibsa_gid_format(&target->gid, out, REACH_TEXT) < 0)
			return "?";
		return out;
	}
	snprintf(out, REACH_TEXT, "%s", fields_clean(text, piece));
	if (strlen(text) > PIECE) {
		size_t len = strlen(out);

		snprintf(out + len, REACH_TEXT - len, "%s",
			 fields_clean(text + PIECE, piece));
	}
	return out;
}

void reach_node_cell(struct out *out, const char *name,
		     const struct reach_target *target)
{
	fields_text_or_none(out, name, target->node);
}

const char *reach_target_label(const struct reach_target *target,
			       char out[REACH_TEXT])
{
	if (target->node)
		return fields_clean(target->node, out);
	return reach_target_text(target, out);
}
