/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The log of ibsad. systemd passes standard error to the journal. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "ibsad/daemon.h"
#include "wire/mad.h"

void ibsad_log(const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "ibsad: %s\n", text);
}

/* What a MAD was, for the log. */
struct mad_text {
	char bytes[64];
};

static struct mad_text mad_text(const uint8_t *mad)
{
	struct mad_text text = { "" };

	if (mad)
		snprintf(text.bytes, sizeof(text.bytes),
			 " (class 0x%02x, method 0x%02x, attribute 0x%04x)",
			 mad[MAD_CLASS], mad[MAD_METHOD],
			 ibsa_be16(mad + MAD_ATTRIBUTE));
	return text;
}

/* Return: the count since the last line, if a line may be written now; or 0. */
static uint64_t limit_count(struct log_limit *limit)
{
	const uint64_t now_ns = clock_now_ns();
	const uint64_t count = ++limit->count;

	if (limit->line_ns && now_ns - limit->line_ns < NS_PER_S)
		return 0;
	*limit = (struct log_limit){ .line_ns = now_ns };
	return count;
}

void ibsad_log_note(const char *text, void *arg)
{
	struct daemon *daemon = arg;
	const uint64_t count = limit_count(&daemon->notes);

	if (count > 1)
		ibsad_log("%s; %" PRIu64 " notes were left out", text,
			  count - 1);
	else if (count)
		ibsad_log("%s", text);
}

void ibsad_log_refusal(struct daemon *daemon, uid_t user, const char *reason,
		       const uint8_t *mad)
{
	const uint64_t count = limit_count(&daemon->refusals);

	daemon->refused++;
	if (!count)
		return;
	if (count == 1)
		ibsad_log("refused user %u: %s%s", user, reason,
			  mad_text(mad).bytes);
	else
		ibsad_log("refused %" PRIu64 " times; the last one was user "
			  "%u: %s%s",
			  count, user, reason, mad_text(mad).bytes);
}
