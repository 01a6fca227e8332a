/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes the reader of captures and reports: it refuses a file of any bytes with a
 * message, or creates a replay that answers requests.
 */
#include <stdlib.h>
#include <string.h>

#include "common/tar.h"
#include "fabric/capture/recording.h"
#include "fabric/capture/select.h"
#include "wire/mad.h"

enum { SELECTS_MAX = 16 }; /* for the time of a run */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ask for a part of each table, of which all records are zero or all are not. */
static void select_from(struct recording *recording, const uint8_t *request)
{
	uint8_t mad[IBSA_MAD_BYTES];
	uint8_t memory[IBSA_MAD_BYTES];

	memcpy(mad, request, sizeof(mad));
	for (unsigned int bit = 0; bit < 64; bit++) {
		struct sa_reply reply = {
			.bytes = memory,
			.room = sizeof(memory),
		};

		mad[MAD_METHOD] = bit % 2 ? IBSA_METHOD_GET
					  : IBSA_METHOD_GET_TABLE;
		ibsa_put_be64(mad + MAD_COMPONENT_MASK, UINT64_C(1) << bit);
		if (ibsa__recording_select(recording, mad, &reply) &&
		    reply.len < IBSA_SA_HEADER_BYTES)
			abort();
		ibsa__sa_reply_done(&reply);
	}
}

/*
 * Look up each request of the capture. Check that an answer that is marked as
 * whole has at least an SA header, and read all bytes of each answer.
 */
static void use(struct recording *recording)
{
	for (uint32_t i = 0; i < recording->count; i++) {
		const struct exchange *answer = ibsa__recording_query(
			recording, recording->exchanges[i].request);
		uint8_t sum = 0;

		if (i < SELECTS_MAX)
			select_from(recording, recording->exchanges[i].request);
		if (!answer)
			continue;
		if (answer->is_whole && answer->len < IBSA_SA_HEADER_BYTES)
			abort();
		for (size_t n = 0; n < answer->len; n++)
			sum ^= answer->answer[n];
		(void)sum;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ibsa_error error = { "" };
	struct recording recording;

	/* As ibsa__replay_load() does with the report of ibsa doctor. */
	if (ibsa__is_tar(data, size)) {
		data = ibsa__tar_find(data, size, TAR_MADS, &size);
		if (!data)
			return 0;
	}
	if (ibsa__recording_read("capture", data, size, &error, &recording)) {
		if (!error.text[0])
			abort();
		return 0;
	}
	if (!recording.count)
		abort();
	use(&recording);
	ibsa__recording_done(&recording);
	return 0;
}
