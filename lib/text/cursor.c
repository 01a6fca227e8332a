/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses text from a position in a line. */
#include "base/digit.h"
#include "text/cursor.h"

void ibsa__cursor_skip_blanks(struct cursor *line)
{
	while (line->at < line->end && cursor_is_blank(*line->at))
		line->at++;
}

bool ibsa__cursor_number(struct cursor *line, int base, uint64_t *out)
{
	struct cursor here = *line;
	const bool has_prefix = cursor_take(&here, "0x") ||
				cursor_take(&here, "0X");
	const uint64_t radix = base == 16 || (has_prefix && !base) ? 16 : 10;
	const char *const first = here.at;
	uint64_t value = 0;

	for (; here.at < here.end; here.at++) {
		const int taken = digit_value(*here.at);
		const uint64_t digit = (uint64_t)taken;

		if (taken < 0 || digit >= radix)
			break;
		if (value > (UINT64_MAX - digit) / radix)
			return false;
		value = value * radix + digit;
	}
	if (here.at == first)
		return false;
	*line = here;
	*out = value;
	return true;
}

bool ibsa__cursor_quoted(struct cursor *line, struct slice *out)
{
	const char *close;

	if (line->at == line->end || *line->at != '"')
		return false;
	close = memchr(line->at + 1, '"', (size_t)(line->end - line->at - 1));
	if (!close)
		return false;
	*out = (struct slice){ line->at + 1, (size_t)(close - line->at - 1) };
	line->at = close + 1;
	return true;
}

bool ibsa__cursor_find(struct cursor *line, const char *word)
{
	struct cursor here = *line;

	for (; here.at < here.end; here.at++) {
		if (here.at > line->at && !cursor_is_blank(here.at[-1]))
			continue;
		if (cursor_take(&here, word)) {
			*line = here;
			return true;
		}
	}
	return false;
}
