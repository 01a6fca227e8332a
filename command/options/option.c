/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses values that several tables of options have. */
#include <ibsa/text.h>

#include "base/complain.h"
#include "options/option.h"

int option_number(const char *option, const char *value, unsigned int max,
		  unsigned int *out)
{
	uint64_t number;

	if (ibsa_number_parse(value, 32, &number) != 0 || number == 0 ||
	    number > max)
		return fail_usage("%s: '%s' is not a number from 1 to %u",
				  option, value, max);
	*out = (unsigned int)number;
	return CLI_DONE;
}
