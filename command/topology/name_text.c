/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes node descriptions in the formats of several programs. */
#include <stdio.h>
#include <string.h>

#include "common/clean.h"
#include "topology/name_text.h"

enum { LABEL_MAX = 40 }; /* characters of a name in a drawing */

const char *name_net(const char *name, char out[NAME_TEXT])
{
	ibsa__text_clean(&name, out, NAME_TEXT);
	return out;
}

static const char slurm_letters[] = "0123456789._-abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

const char *name_slurm_switch(const char *name, char out[NAME_TEXT])
{
	snprintf(out, NAME_TEXT, "%s", name);
	for (char *at = out; *at; at++)
		if (!strchr(slurm_letters, *at))
			*at = '_';
	return out;
}

bool name_slurm_host(const char *name, char out[NAME_TEXT])
{
	const size_t len = strcspn(name, " ");

	snprintf(out, NAME_TEXT, "%.*s", (int)len, name);
	return len > 0 && !strchr("._-", out[0]) &&
	       strspn(out, slurm_letters) == len;
}

void name_dot_put(FILE *file, const char *name)
{
	char clean[NAME_TEXT];
	size_t count = 0;

	ibsa__text_clean(&name, clean, sizeof(clean));
	for (const char *at = clean; *at; at++) {
		count += ((unsigned char)*at & 0xc0) != 0x80;
		if (count > LABEL_MAX) {
			fputs("…", file);
			return;
		}
		if (*at == '&')
			fputs("&amp;", file);
		else if (*at == '"' || *at == '\\')
			fprintf(file, "\\%c", *at);
		else
			putc(*at, file);
	}
}
