/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Benchmarks B1 and B2: PathRecords that fit into the processor's cache are
 * decoded as a whole; of a million PathRecords, single fields are read.
 */
#include <stdlib.h>

#include <infiniband/mad.h>

#include <ibsa/records.h>

#include "bench.h"

enum {
	RECORD_BYTES = 64,
	IN_CACHE = 256,		/* records, 16 KiB */
	IN_TABLE = 1000 * 1000, /* records, 64 MB */
	CACHE_COUNT = 500 * 1000,
};

static uint8_t *table;
static struct ibsa_path paths[IN_CACHE];

/* Any bytes are valid PathRecords. */
static int table_fill(void)
{
	size_t bytes = (size_t)RECORD_BYTES * IN_TABLE;

	table = malloc(bytes);
	if (!table)
		return -1;
	for (size_t i = 0; i < bytes; i++)
		table[i] = (uint8_t)((uint32_t)i * 2654435761u >> 13);
	return 0;
}

/* Decode the six fields of a PathRecord for which libibmad has names. */
static void decode_libibmad(const uint8_t *bytes, void *host)
{
	void *wire =
		(void *)(uintptr_t)bytes; /* read only, but not so declared */
	struct ibsa_path *out = host;

	mad_get_array(wire, 0, IB_SA_PR_DGID_F, out->dgid.raw);
	mad_get_array(wire, 0, IB_SA_PR_SGID_F, out->sgid.raw);
	out->dlid = (uint16_t)mad_get_field(wire, 0, IB_SA_PR_DLID_F);
	out->slid = (uint16_t)mad_get_field(wire, 0, IB_SA_PR_SLID_F);
	out->numb_path = (uint8_t)mad_get_field(wire, 0, IB_SA_PR_NPATH_F);
	out->sl = (uint8_t)mad_get_field(wire, 0, IB_SA_PR_SL_F);
}

static inline uint16_t load16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t load32(const uint8_t *p)
{
	return (uint32_t)load16(p) << 16 | load16(p + 2);
}

static inline uint64_t load64(const uint8_t *p)
{
	return (uint64_t)load32(p) << 32 | load32(p + 4);
}

/* Decode all fields of a PathRecord with code written for this record only. */
static void decode_plain(const uint8_t *wire, void *host)
{
	struct ibsa_path *out = host;
	uint32_t flow = load32(wire + 44);
	uint16_t qos = load16(wire + 52);

	out->service_id = load64(wire);
	memcpy(out->dgid.raw, wire + 8, 16);
	memcpy(out->sgid.raw, wire + 24, 16);
	out->dlid = load16(wire + 40);
	out->slid = load16(wire + 42);
	out->raw_traffic = (uint8_t)(flow >> 31);
	out->flow_label = flow >> 8 & 0xfffff;
	out->hop_limit = (uint8_t)flow;
	out->tclass = wire[48];
	out->reversible = wire[49] >> 7;
	out->numb_path = wire[49] & 0x7f;
	out->pkey = load16(wire + 50);
	out->qos_class = qos >> 4;
	out->sl = qos & 15;
	out->mtu_selector = wire[54] >> 6;
	out->mtu = wire[54] & 63;
	out->rate_selector = wire[55] >> 6;
	out->rate = wire[55] & 63;
	out->packet_life_time_selector = wire[56] >> 6;
	out->packet_life_time = wire[56] & 63;
	out->preference = wire[57];
}

/* The lower bound: the bytes of the record are copied, not decoded. */
static void decode_copy(const uint8_t *wire, void *host)
{
	memcpy(host, wire, RECORD_BYTES);
}

/* Call each decoder through a pointer, as a function of a library is called. */
static void decode_each(void (*volatile decode)(const uint8_t *, void *),
			uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		decode(table + RECORD_BYTES * (i % IN_CACHE),
		       &paths[i % IN_CACHE]);
		BENCH_USE(paths);
	}
}

static void run_decode_ibsa(uint64_t count)
{
	decode_each(ibsa_path_record.decode, count);
}

static void run_decode_libibmad(uint64_t count)
{
	decode_each(decode_libibmad, count);
}

static void run_decode_plain(uint64_t count)
{
	decode_each(decode_plain, count);
}

static void run_decode_copy(uint64_t count)
{
	decode_each(decode_copy, count);
}

static void run_read_ibsa(uint64_t count)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < count; i++) {
		const uint8_t *wire = table + RECORD_BYTES * i;

		sum += IBSA_GET(path, dlid, wire);
		sum += IBSA_GET(path, sl, wire);
		sum += IBSA_GET(path, rate, wire);
	}
	BENCH_USE(&sum);
}

static void run_read_plain(uint64_t count)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < count; i++) {
		const uint8_t *wire = table + RECORD_BYTES * i;

		sum += load16(wire + 40);
		sum += wire[53] & 15;
		sum += wire[55] & 63;
	}
	BENCH_USE(&sum);
}

/* The lower bound: load one 64-bit word of each record, without decoding it. */
static void run_read_word(uint64_t count)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t word;

		memcpy(&word, table + RECORD_BYTES * i + 40, sizeof(word));
		sum += word;
	}
	BENCH_USE(&sum);
}

static const struct bench_case cases[] = {
	{ "decode-ibsa", run_decode_ibsa, CACHE_COUNT },
	{ "decode-libibmad", run_decode_libibmad, CACHE_COUNT },
	{ "decode-plain", run_decode_plain, CACHE_COUNT },
	{ "decode-copy", run_decode_copy, CACHE_COUNT },
	{ "read-ibsa", run_read_ibsa, IN_TABLE },
	{ "read-plain", run_read_plain, IN_TABLE },
	{ "read-word", run_read_word, IN_TABLE },
};

int main(int argc, char **argv)
{
	if (table_fill())
		return EXIT_FAILURE;
	return bench_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
