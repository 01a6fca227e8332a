/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes the reader of captures: it refuses a file of any bytes with a
 * message, or creates a replay that answers requests.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/capture/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
