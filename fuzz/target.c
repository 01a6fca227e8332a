/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes the parsers of the command for an end of a path and for the address of
 * the SA.
 */
#include <stdlib.h>
#include <string.h>

#include "../command/names/target.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool what)
{
	if (!what)
		abort();
}

/*
 * If the text is refused, check that the message ends within its buffer and
 * that the target is unchanged; otherwise check that its value is valid.
 */
static void try_target(const char *text)
{
	struct target target;
	struct target before;
	struct ibsa_error error;

	memset(&before, 0xa5, sizeof(before));
	memcpy(&target, &before, sizeof(target));
	memset(&error, 'x', sizeof(error));
	if (target_parse(text, &target, &error) != 0) {
		must(strnlen(error.text, sizeof(error.text)) <
		     sizeof(error.text));
		must(memcmp(&target, &before, sizeof(target)) == 0);
		return;
	}
	must(target.kind != TARGET_GID ||
	     memcmp(&target.gid, &(struct ibsa_gid){ { 0 } }, 16) != 0);
	must(target.kind != TARGET_LID || target.lid != 0);
	must(target.kind != TARGET_GUID || target.guid != 0);
	must(target.kind != TARGET_NAME ||
	     strlen(target.name) <= TARGET_NAME_BYTES);
}

static void try_sa(const char *text)
{
	struct ibsa_address address;
	struct ibsa_address before;
	struct ibsa_error error;

	memset(&before, 0xa5, sizeof(before));
	memcpy(&address, &before, sizeof(address));
	memset(&error, 'x', sizeof(error));
	if (sa_parse(text, &address, &error) != 0) {
		must(strnlen(error.text, sizeof(error.text)) <
		     sizeof(error.text));
		must(memcmp(&address, &before, sizeof(address)) == 0);
		return;
	}
	/*
	 * LID 0 without a GID means the SM of the port. SLs of Omni-Path have
	 * 5 bits.
	 */
	must(address.lid <= IBSA_LID_UNICAST_MAX);
	must(address.qpn < 1 << 24 && address.sl < 32);
	must(address.lmc <= IBSA_LMC_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	try_target(text);
	try_sa(text);
	free(text);
	return 0;
}
