/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses what the findings about this machine are compared with. */
#include <ibsa/ibsa.h>
#include <ibsa/text.h>

#include "base/complain.h"
#include "findings/node_options.h"

int pkey_option(void *to, const char *value)
{
	struct pkey_list *pkeys = to;
	uint64_t pkey;

	if (pkeys->count == PKEYS_MAX)
		return fail_usage("--pkey is given more than %d times; remove "
				  "some",
				  PKEYS_MAX);
	if (ibsa_number_parse(value, 16, &pkey) != 0 ||
	    !(pkey & (uint16_t)~IBSA_PKEY_FULL))
		return fail_usage("--pkey: '%s' is not a P_Key, such as "
				  "0x8001",
				  value);
	pkeys->all[pkeys->count++] = (uint16_t)pkey;
	return CLI_DONE;
}

int rate_option(void *to, const char *value)
{
	if (rate_limit_parse(value, to))
		return CLI_DONE;
	return fail_usage("--rate: '%s' is not a rate in Gb/s, such as '>=400' "
			  "or 200Gb",
			  value);
}
