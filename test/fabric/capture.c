/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packets that a tap on an embedded fabric captures. */
#include <errno.h>
#include <stdlib.h>

#include "common/frame.h"
#include "file_rig.h"
#include "support.h"
#include "wire/mad.h"

enum { SEEN_MAX = 256 };

/* The packets that the tap has captured. */
struct recording {
	size_t count;
	uint64_t times[SEEN_MAX];
	size_t lens[SEEN_MAX];
	uint8_t bytes[SEEN_MAX][FRAME_BYTES_MAX];
};

static void seen(const struct ibsa_packet *packet, void *arg)
{
	struct recording *recording = arg;

	assert_true(recording->count < SEEN_MAX);
	assert_true(packet->len <= FRAME_BYTES_MAX);
	recording->times[recording->count] = packet->time_ns;
	recording->lens[recording->count] = packet->len;
	memcpy(recording->bytes[recording->count++], packet->bytes,
	       packet->len);
}

static struct frame frame_at(const struct recording *recording, size_t index)
{
	struct frame frame;

	assert_true(index < recording->count);
	assert_true(ibsa__frame_get(recording->bytes[index],
				    recording->lens[index], &frame));
	return frame;
}

static struct recording *start(struct bench *bench,
			       const struct ibsa_fabric_options *options)
{
	struct recording *recording = calloc(1, sizeof(*recording));

	bench_start_file(bench, "b.net", NULL, options);
	assert_non_null(recording);
	assert_int_equal(ibsa_fabric_tap(bench->fabric, seen, recording), 0);
	return recording;
}

/*
 * The ICRC equals that of a sample packet. Source: IBA vol 1, 7.8, the first
 * sample packet.
 */
static void checksum_is_that_of_the_sample(void **state)
{
	static const uint8_t sample[] = {
		0x70, 0x12, 0x37, 0x5c, 0x00, 0x0e, 0x17, 0xd2, 0x0a,
		0x20, 0x24, 0x87, 0x00, 0x87, 0xb1, 0xb3, 0x00, 0x0d,
		0xec, 0x2a, 0x01, 0x71, 0x0a, 0x1c, 0x01, 0x5d, 0x40,
		0x02, 0x38, 0xf2, 0x7a, 0x05, 0x00, 0x00, 0x00, 0x0e,
		0xbb, 0x88, 0x4d, 0x85, 0xfd, 0x5c, 0xfb, 0xa4, 0x72,
		0x8b, 0xc0, 0x69, 0x0e, 0xd4, 0x00, 0x00,
	};

	(void)state;
	/* On the wire 96 25 b7 5a: least significant byte first. */
	assert_int_equal(ibsa__frame_icrc(sample, sizeof(sample), false),
			 0x5ab72596);
}

static void every_header_comes_back(void **state)
{
	uint8_t mad[IBSA_MAD_BYTES] = { 1, 3, 2, [255] = 9 };
	const struct frame in = {
		.slid = 0x1234,
		.dlid = 0xbfff,
		.src_qp = 0xfedcba,
		.dst_qp = 1,
		.psn = 0x123456,
		.pkey = 0x7fff,
		.sl = 15,
		.has_grh = true,
		.hop_limit = 63,
		.traffic_class = 0xa5,
		.flow_label = 0xabcde,
		.sgid.raw = { 0xfe, 0x80, [15] = 1 },
		.dgid.raw = { 0xfe, 0x80, [15] = 2 },
		.mad = mad,
	};
	uint8_t bytes[FRAME_BYTES_MAX];
	struct frame out;
	size_t len = ibsa__frame_put(&in, bytes);

	(void)state;
	assert_int_equal(len, 8 + 40 + 12 + 8 + 256 + 4 + 2);
	assert_true(ibsa__frame_get(bytes, len, &out));
	assert_int_equal(out.slid, in.slid);
	assert_int_equal(out.dlid, in.dlid);
	assert_int_equal(out.src_qp, in.src_qp);
	assert_int_equal(out.dst_qp, in.dst_qp);
	assert_int_equal(out.psn, in.psn);
	assert_int_equal(out.pkey, in.pkey);
	assert_int_equal(out.sl, in.sl);
	assert_true(out.has_grh);
	assert_int_equal(out.hop_limit, in.hop_limit);
	assert_int_equal(out.traffic_class, in.traffic_class);
	assert_int_equal(out.flow_label, in.flow_label);
	assert_memory_equal(out.sgid.raw, in.sgid.raw, 16);
	assert_memory_equal(out.dgid.raw, in.dgid.raw, 16);
	assert_memory_equal(out.mad, mad, sizeof(mad));
	/*
	 * Decoding succeeds if the checksums at the packet's end are missing,
	 * and fails if anything else is.
	 */
	assert_true(ibsa__frame_get(bytes, len - 6, &out));
	for (size_t cut = 0; cut < len - 6; cut++)
		assert_false(ibsa__frame_get(bytes, cut, &out));
}

static void request_and_answer_are_captured_with_their_addresses(void **state)
{
	const struct ibsa_fabric_options options = { .virtual_clock = true,
						     .latency_us = 7 };
	const struct ibsa_path want = { .slid = 1, .dlid = 4 };
	struct bench bench;
	struct recording *recording = start(&bench, &options);
	struct frame frame;

	(void)state;
	bench_query(&bench, IBSA_METHOD_GET, &ibsa_path_record, &want,
		    IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid));
	/* Each as it leaves its port. */
	assert_int_equal(recording->count, 2);
	assert_int_equal(recording->times[0], 0);
	assert_int_equal(recording->times[1], 7000);
	assert_int_equal(ibsa_fabric_advance(bench.fabric, 7000), 0);
	assert_true(bench_receive(&bench));
	frame = frame_at(recording, 0);
	assert_int_equal(frame.slid, 1);
	assert_int_equal(frame.dlid, 1);
	assert_int_equal(frame.src_qp, 1);
	assert_int_equal(frame.dst_qp, 1);
	assert_int_equal(frame.pkey, 0xffff);
	assert_int_equal(frame.psn, 0);
	/* The upper half of the transaction id is the umad file's. */
	assert_memory_equal(frame.mad, bench.request, MAD_TID);
	assert_memory_equal(frame.mad + MAD_TID + 4,
			    bench.request + MAD_TID + 4,
			    IBSA_MAD_BYTES - MAD_TID - 4);
	frame = frame_at(recording, 1);
	assert_int_equal(frame.psn, 1);
	assert_memory_equal(frame.mad, bench.answer.mad, IBSA_MAD_BYTES);
	bench_stop(&bench);
	free(recording);
}

static void only_the_request_of_a_lost_exchange_is_captured(void **state)
{
	const struct ibsa_fault fault = { .kind = IBSA_FAULT_LOSE,
					  .percent = 100 };
	struct bench bench;
	struct recording *recording = start(&bench, NULL);

	(void)state;
	assert_int_equal(ibsa_fabric_fault(bench.fabric, &fault), 0);
	bench_request(&bench, IBSA_METHOD_GET, 0x0001, 0);
	assert_int_equal(bench_exchange(&bench), -1);
	assert_int_equal(recording->count, 1);
	bench_stop(&bench);
	free(recording);
}

/* 36 paths of 64 bytes are 2304 bytes, in segments of 200. */
static void long_answer_is_captured_in_segments(void **state)
{
	enum { DATA = 36 * 64, ROOM = 200, SEGMENTS = 12 };
	struct bench bench;
	struct recording *recording = start(&bench, NULL);

	(void)state;
	bench_request(&bench, IBSA_METHOD_GET_TABLE, 0x0035, 0);
	assert_int_equal(bench_exchange(&bench), 0);
	assert_int_equal(bench.answer.len, 56 + DATA);
	assert_int_equal(recording->count, 1 + SEGMENTS);
	for (size_t i = 0; i < SEGMENTS; i++) {
		const uint8_t *mad = frame_at(recording, 1 + i).mad;
		const size_t part = i + 1 < SEGMENTS ? ROOM : DATA % ROOM;

		assert_int_equal(mad[MAD_RMPP_VERSION], 1);
		assert_int_equal(mad[MAD_RMPP_TYPE], 1);
		assert_int_equal(mad[MAD_RMPP_FLAGS] & 7,
				 1 | (i == 0) << 1 | (i + 1 == SEGMENTS) << 2);
		assert_int_equal(ibsa_be32(mad + MAD_RMPP_SEGMENT), i + 1);
		assert_int_equal(ibsa_be32(mad + MAD_RMPP_LENGTH),
				 i == 0		     ? DATA + SEGMENTS * 20
				 : i + 1 == SEGMENTS ? 20 + part
						     : 0);
		assert_memory_equal(mad, bench.answer.mad, MAD_HEADER_BYTES);
		assert_memory_equal(mad + MAD_RMPP_END,
				    bench.answer.mad + MAD_RMPP_END, 20);
		assert_memory_equal(mad + IBSA_SA_HEADER_BYTES,
				    bench.answer.mad + IBSA_SA_HEADER_BYTES +
					    i * ROOM,
				    part);
	}
	bench_stop(&bench);
	free(recording);
}

static void one_tap_captures_at_a_time(void **state)
{
	struct bench bench;
	struct recording *recording = start(&bench, NULL);

	(void)state;
	assert_int_equal(ibsa_fabric_tap(bench.fabric, seen, recording),
			 -EBUSY);
	assert_int_equal(ibsa_fabric_tap(bench.fabric, NULL, NULL), 0);
	bench_request(&bench, IBSA_METHOD_GET, 0x0001, 0);
	assert_int_equal(bench_exchange(&bench), 0);
	assert_int_equal(recording->count, 0);
	assert_int_equal(ibsa_fabric_tap(bench.fabric, seen, recording), 0);
	bench_stop(&bench);
	free(recording);
}

static void packets_of_omni_path_are_others(void **state)
{
	const struct ibsa_fabric_options options = { .opa = true,
						     .virtual_clock = true };
	struct bench bench;

	(void)state;
	bench_start_file(&bench, "b.net", NULL, &options);
	assert_int_equal(ibsa_fabric_tap(bench.fabric, seen, NULL),
			 -EOPNOTSUPP);
	bench_stop(&bench);
}

/* Each MAD between umad files is captured once, as it leaves its port. */
static void mads_of_umad_files_are_captured(void **state)
{
	struct recording *recording = calloc(1, sizeof(*recording));
	struct ibsa_fabric *fabric =
		file_fabric("Switch 4 \"s\"\n[1] \"a\"\n[2] \"b\"\n"
			    "Ca 1 \"a\"\nCa 1 \"b\"\n",
			    NULL);
	struct port_file *file = file_open(fabric, "b", 1);
	const uint32_t sa = file_agent(file, IBSA_CLASS_SA, 2, 0);
	struct packet_out packet = file_request(
		file_agent(file, CLASS_SMP_LID, 1, 0), file_lid(fabric, "a", 1),
		CLASS_SMP_LID, IBSA_METHOD_GET, 0x0011, 5);
	struct frame frame;

	(void)state;
	assert_int_equal(ibsa_fabric_tap(fabric, seen, recording), 0);
	file_exchange(file, &packet);
	assert_int_equal(recording->count, 2);
	frame = frame_at(recording, 0);
	assert_int_equal(frame.dst_qp, 0);
	assert_int_equal(recording->bytes[0][0] >> 4, 15);
	assert_int_equal(frame.slid, file_lid(fabric, "b", 1));
	assert_int_equal(frame.dlid, file_lid(fabric, "a", 1));
	assert_int_equal(frame.mad[MAD_METHOD], IBSA_METHOD_GET);
	frame = frame_at(recording, 1);
	assert_int_equal(frame.dlid, file_lid(fabric, "b", 1));
	assert_int_equal(frame.mad[MAD_METHOD], IBSA_METHOD_GET_RESP);
	packet = file_request(sa, file_lid(fabric, "a", 1), IBSA_CLASS_SA,
			      IBSA_METHOD_GET_TABLE, 0x0011, 6);
	file_exchange(file, &packet);
	/* Three nodes of 112 bytes are two segments. */
	assert_int_equal(recording->count, 5);
	frame = frame_at(recording, 4);
	assert_int_equal(frame.dst_qp, 1);
	assert_int_equal(frame.mad[MAD_RMPP_FLAGS] & 7, 1 | 4);
	assert_int_equal(ibsa_be32(frame.mad + MAD_RMPP_LENGTH),
			 20 + 3 * 112 - 200);
	ibsa__port_file_close(file);
	ibsa_fabric_put(fabric);
	free(recording);
}

/* Send some queries with every fault set, and capture the packets. */
static struct recording *history(uint64_t seed)
{
	const struct ibsa_fabric_options options = { .virtual_clock = true,
						     .seed = seed };
	struct bench bench;
	struct recording *recording = start(&bench, &options);

	for (int kind = 0; kind < IBSA_FAULT_KINDS; kind++) {
		const struct ibsa_fault fault = {
			.kind = (enum ibsa_fault_kind)kind, .percent = 20
		};

		assert_int_equal(ibsa_fabric_fault(bench.fabric, &fault), 0);
	}
	for (int i = 0; i < 10; i++) {
		bench_request(&bench, IBSA_METHOD_GET_TABLE, 0x0011, 0);
		bench_send(&bench);
		assert_int_equal(ibsa_fabric_advance(bench.fabric, 30000000),
				 0);
		while (bench_receive(&bench))
			;
	}
	bench_stop(&bench);
	return recording;
}

static void one_seed_is_one_capture(void **state)
{
	struct recording *one = history(5);
	struct recording *two = history(5);
	struct recording *other = history(6);

	(void)state;
	assert_true(one->count > 10);
	assert_memory_equal(one, two, sizeof(*one));
	assert_memory_not_equal(one, other, sizeof(*one));
	free(one);
	free(two);
	free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checksum_is_that_of_the_sample),
		cmocka_unit_test(every_header_comes_back),
		cmocka_unit_test(
			request_and_answer_are_captured_with_their_addresses),
		cmocka_unit_test(
			only_the_request_of_a_lost_exchange_is_captured),
		cmocka_unit_test(long_answer_is_captured_in_segments),
		cmocka_unit_test(one_tap_captures_at_a_time),
		cmocka_unit_test(packets_of_omni_path_are_others),
		cmocka_unit_test(mads_of_umad_files_are_captured),
		cmocka_unit_test(one_seed_is_one_capture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
