/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes why there is no path. */
#include "output/reason.h"

const char *reason_words(unsigned int code, bool is_certain,
			 char out[REASON_CELL_TEXT])
{
	snprintf(out, REASON_CELL_TEXT, "%s%s", is_certain ? "" : "possibly ",
		 code == REASON_RAIL_MISSING
			 ? REASON_RAIL_MISSING_TEXT
			 : ibsa_reason_text((enum ibsa_reason_code)code));
	return out;
}

const char *reason_code_name(unsigned int code)
{
	if (code == REASON_RAIL_MISSING)
		return REASON_RAIL_MISSING_CODE;
	switch ((enum ibsa_reason_code)code) {
#define CODE(name, text)         \
	case IBSA_REASON_##name: \
		return text;
		REASON_CODES(CODE)
#undef CODE
	case IBSA_REASON_NONE:
		break;
	}
	return NULL;
}

void reason_cell(struct out *out, const char *name, unsigned int code,
		 bool is_certain)
{
	char text[REASON_CELL_TEXT];

	if (code)
		out_text(out, name, reason_words(code, is_certain, text));
	else
		out_none(out, name);
}
