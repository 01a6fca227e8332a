/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints the line of a monitoring plugin, and returns its exit status. */
#include <stdarg.h>
#include <string.h>

#include "common/clean.h"
#include "output/nagios.h"

enum { LABEL_BYTES = 128 };

/*
 * Copy text in a form that is safe to print; '_' replaces the characters in
 * @not.
 */
static void text_copy(const char *text, const char * not, char *out,
		      size_t size)
{
	ibsa__text_clean(&text, out, size);
	for (; *out; out++)
		if (strchr(not, *out))
			*out = '_';
}

void nagios_add(struct nagios *nagios, const char *label, const char *format,
		...)
{
	char name[LABEL_BYTES], value[64];
	const size_t room = sizeof(nagios->data) - nagios->len;
	va_list args;
	int len;

	va_start(args, format);
	vsnprintf(value, sizeof(value), format, args);
	va_end(args);
	text_copy(label, "='|", name, sizeof(name));
	len = snprintf(nagios->data + nagios->len, room, " '%s'=%s", name,
		       value);
	if (len >= 0 && (size_t)len < room)
		nagios->len += (size_t)len;
	else
		nagios->data[nagios->len] = '\0';
}

int nagios_print(struct nagios *nagios, struct out *out,
		 enum nagios_status status, const char *text)
{
	static const char *const names[] = { "OK", "WARNING", "CRITICAL",
					     "UNKNOWN" };
	char clean[1024];

	_Static_assert(sizeof("IBSA CRITICAL:  | \n") + sizeof(clean) +
				       sizeof(nagios->data) <
			       4096,
		       "Nagios reads 4 KiB");
	/*
	 * The bar is replaced in the text, because it separates text and
	 * performance data.
	 */
	text_copy(text, "|", clean, sizeof(clean));
	out_line(out, "IBSA %s: %s%s%s", names[status], clean,
		 nagios->len ? " |" : "", nagios->data);
	return (int)status;
}
