/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A transport whose umad file buffers its packets. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ibsa/types.h>

#include "umad/transport.h"

enum { PACKET_BYTES = UMAD_HEADER_BYTES + IBSA_MAD_BYTES };

/* A file that has packets while its descriptor is not readable. */
struct held_file {
	struct umad_file base;
	size_t packets;
	uint8_t bytes[PACKET_BYTES];
};

static int held_receive(struct umad_file *file, struct umad_buffer *buffers,
			size_t count)
{
	struct held_file *held = (struct held_file *)file;
	size_t taken = 0;

	for (; taken < count && held->packets; taken++, held->packets--)
		buffers[taken] = (struct umad_buffer){
			.bytes = held->bytes,
			.len = PACKET_BYTES,
		};
	return taken ? (int)taken : -EAGAIN;
}

static const struct umad_file_ops held_ops = { .receive = held_receive };

/*
 * While the file has packets, recv must be called again at once, even if more
 * packets come than are read at a time.
 */
static void nothing_waits_while_the_file_has_packets(void **state)
{
	enum { PACKETS = 3 * UMAD_BUFFERS };
	struct held_file file = { .base.ops = &held_ops, .packets = PACKETS };
	struct umad_transport umad;
	struct ibsa_message message;

	(void)state;
	assert_int_equal(ibsa__umad_transport_init(&umad, &file.base,
						   IBSA_MAD_BYTES),
			 0);
	umad.is_open = true;
	assert_int_equal(ibsa__umad_pause_ms(&umad.base), -1);
	for (int i = 0; i < PACKETS; i++) {
		assert_int_equal(ibsa__umad_recv(&umad.base, &message), 1);
		if (file.packets)
			assert_int_equal(ibsa__umad_pause_ms(&umad.base), 0);
	}
	assert_int_equal(ibsa__umad_recv(&umad.base, &message), 0);
	assert_int_equal(ibsa__umad_pause_ms(&umad.base), -1);
	ibsa__umad_transport_done(&umad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_waits_while_the_file_has_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
