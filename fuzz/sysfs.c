/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses arbitrary contents and names of sysfs files. */
#include <stdlib.h>
#include <string.h>

#include "device/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int sign(int order)
{
	return (order > 0) - (order < 0);
}

/*
 * Check the parsers: a failed parse leaves the output unchanged; a successful
 * one returns a value in range.
 */
static void parse(const char *text)
{
	static const struct ibsa_gid mark = { .raw = { 0xa5, 0x5a, 0xa5 } };
	struct ibsa_gid gid = mark;
	unsigned int index = 0xa5a5;
	bool is_v2 = true;
	uint64_t number = 0xa5a5;
	uint64_t guid = 0xa5a5;

	if (ibsa__parse_number(text, 0xff, &number))
		number = number == 0xa5a5 ? 0 : number;
	if (number > 0xff)
		abort();
	if (ibsa__parse_index(text, &index) && index != 0xa5a5)
		abort();
	if (ibsa__parse_guid(text, &guid) && guid != 0xa5a5)
		abort();
	if (ibsa__parse_gid(text, &gid) && memcmp(&gid, &mark, sizeof(gid)))
		abort();
	if (ibsa__parse_gid_type(text, &is_v2) && !is_v2)
		abort();
	if (ibsa__parse_is_opa(text) && !strstr(text, "DRIVER=hfi"))
		abort();
}

/* Check that the order of two names is consistent in both directions. */
static void compare(const char *a, const char *b)
{
	int order = sign(ibsa__name_compare(a, b));

	if (order != -sign(ibsa__name_compare(b, a)))
		abort();
	if (!order != !strcmp(a, b))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	size_t first;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	parse(text);
	/* The input contains two names, separated by a newline or NUL. */
	first = strcspn(text, "\n");
	if (first < size) {
		text[first] = '\0';
		compare(text, text + first + 1);
	}
	free(text);
	return 0;
}
