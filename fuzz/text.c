/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes all parsers of text. The first byte selects a record type, the rest
 * is the text. GIDs must be parsed as by libc. Accepted text must be formatted
 * and parsed back to the same value; refused text must change nothing.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>

#include <ibsa/records.h>
#include <ibsa/text.h>

#include "common/selector.h"

enum { HOST_BYTES = 512, TEXT_BYTES = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool so)
{
	if (!so)
		abort();
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (bytes[i])
			return false;
	}
	return true;
}

/*
 * Check that a GID is parsed as by inet_pton() and formatted as by
 * inet_ntop().
 */
static void gid_check(const char *text)
{
	char theirs[INET6_ADDRSTRLEN];
	char ours[IBSA_GID_TEXT];
	struct ibsa_gid gid;
	uint8_t raw[16];

	if (inet_pton(AF_INET6, text, raw) != 1) {
		must(ibsa_gid_parse(text, &gid) == -EINVAL);
		return;
	}
	must(ibsa_gid_parse(text, &gid) == 0);
	must(!memcmp(gid.raw, raw, sizeof(raw)));
	must(inet_ntop(AF_INET6, raw, theirs, sizeof(theirs)) != NULL);
	must(ibsa_gid_format(&gid, ours, sizeof(ours)) >= 0);
	must(!strcmp(ours, theirs));
}

/*
 * Check that a number is parsed as by strtoull(), but without signs, blanks
 * and octal.
 */
static void number_check(const char *text)
{
	const bool hex = text[0] == '0' && (text[1] | 0x20) == 'x';
	uint64_t value = 0;
	uint64_t theirs;

	for (unsigned int nbits = 1; nbits <= 64; nbits++) {
		int err = ibsa_number_parse(text, nbits, &value);

		must(err == 0 || err == -EINVAL || err == -ERANGE);
		must(err || value <= ~UINT64_C(0) >> (64 - nbits));
	}
	errno = 0;
	theirs = strtoull(text, NULL, hex ? 16 : 10);
	if (!ibsa_number_parse(text, 64, &value))
		must(value == theirs && !errno);
}

static void field_check(const struct ibsa_field *field, const char *text)
{
	_Alignas(8) uint8_t host[HOST_BYTES] = { 0 };
	_Alignas(8) uint8_t back[HOST_BYTES] = { 0 };
	char shown[IBSA_VALUE_TEXT];
	const unsigned int index = ibsa_field_values(field) - 1;

	if (ibsa_field_parse(field, index, text, host)) {
		must(is_zero(host, sizeof(host)));
		return;
	}
	must(ibsa_field_format(field, index, host, shown, sizeof(shown)) >= 0);
	must(ibsa_field_parse(field, index, shown, back) == 0);
	must(!memcmp(host, back, sizeof(host)));
}

static void selector_check(const struct ibsa_record *record, const char *text)
{
	_Alignas(8) uint8_t host[HOST_BYTES] = { 0 };
	struct ibsa_error error = { "" };
	uint8_t wire[256];
	uint64_t mask = 0;

	if (ibsa__selector_parse(record, text, host, &mask, &error)) {
		must(is_zero(host, sizeof(host)) && !mask);
		must(error.text[0] &&
		     memchr(error.text, 0, sizeof(error.text)));
		return;
	}
	/* A comparison that excludes no value sets no bit of the mask. */
	must((mask || is_zero(host, sizeof(host))) && !(mask & ~record->mask));
	must(ibsa_record_encode(record, host, record->host_size, wire,
				sizeof(wire)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ibsa_record *record;
	char text[TEXT_BYTES];
	unsigned int count = 0;
	unsigned int index;

	if (size < 1 || size > sizeof(text))
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	while (ibsa_record_at(count))
		count++;
	record = ibsa_record_at(data[0] % count);
	gid_check(text);
	number_check(text);
	ibsa_record_find(text);
	ibsa_field_find(record, text, &index);
	selector_check(record, text);
	for (unsigned int i = 0; i < record->field_count; i++)
		field_check(&record->fields[i], text);
	return 0;
}
