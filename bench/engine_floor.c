/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lower bound of B5 and B6. Each query is a copy of a prepared MAD with
 * other GUIDs in its GIDs. Its transaction id is the number of its slot, so
 * that the slot of an answer is found without a search.
 */
#include <stdlib.h>
#include <string.h>

#include <ibsa/records.h>

#include "wire/request.h"

#include "bench.h"
#include "engine_floor.h"
#include "loop.h"

enum {
	WINDOW = 64,
	MILLION = 1000 * 1000,
	RING = 1 << 20,
};

struct slot {
	void (*done)(struct slot *slot, const uint8_t *answer);
	struct load *load;
	uint8_t mad[IBSA_MAD_BYTES]; /* for a retry */
};

struct load {
	struct loop loop;
	struct slot *slots;
	unsigned int window;
	uint64_t asked;
	uint64_t answered;
	uint8_t prepared[IBSA_MAD_BYTES];
};

static struct load small = { .window = WINDOW };
static struct load large = { .window = MILLION };

enum {
	TID_AT = offsetof(struct ibsa__sa_header_bits, transaction_id) / 8,
	DGUID_AT = IBSA_SA_HEADER_BYTES +
		   offsetof(struct ibsa__path_bits, dgid) / 8 + 8,
	SGUID_AT = IBSA_SA_HEADER_BYTES +
		   offsetof(struct ibsa__path_bits, sgid) / 8 + 8,
};

static void slot_submit(struct slot *slot)
{
	const struct ibsa_address sa = { .lid = 1, .qpn = IBSA_QPN_GSI };
	struct load *load = slot->load;
	uint64_t id = load->asked++;

	memcpy(slot->mad, load->prepared, sizeof(slot->mad));
	ibsa_put_be64(slot->mad + TID_AT, (uint64_t)(slot - load->slots));
	ibsa_put_be64(slot->mad + DGUID_AT, id);
	ibsa_put_be64(slot->mad + SGUID_AT, id);
	if (load->loop.transport.ops->send(&load->loop.transport, &sa,
					   slot->mad, sizeof(slot->mad), 0))
		abort();
}

static void answered(struct slot *slot, const uint8_t *answer)
{
	if (IBSA_GET(sa_header, status, answer))
		abort();
	slot->load->answered++;
	slot_submit(slot);
}

static void load_start(struct load *load)
{
	struct ibsa_path want = { .reversible = 1, .numb_path = 1 };
	const struct ibsa__request get = {
		.record = &ibsa_path_record,
		.match = &want,
		.mask = IBSA_PATH_CM(dgid) | IBSA_PATH_CM(sgid) |
			IBSA_PATH_CM(numb_path),
		.method = IBSA_METHOD_GET,
	};

	ibsa_put_be64(want.dgid.raw, UINT64_C(0xfe80) << 48);
	ibsa_put_be64(want.sgid.raw, UINT64_C(0xfe80) << 48);
	load->slots = calloc(load->window, sizeof(*load->slots));
	if (!load->slots || loop_init(&load->loop, RING) ||
	    ibsa__request_encode(&get, load->prepared))
		abort();
	for (unsigned int i = 0; i < load->window; i++) {
		load->slots[i].load = load;
		load->slots[i].done = answered;
		slot_submit(&load->slots[i]);
	}
}

static void load_run(struct load *load, uint64_t count)
{
	struct ibsa_message message;
	uint64_t goal, index;

	if (!load->slots)
		load_start(load);
	goal = load->answered + count;
	while (load->answered < goal) {
		if (load->loop.transport.ops->recv(&load->loop.transport,
						   &message) != 1)
			abort();
		index = IBSA_GET(sa_header, transaction_id, message.mad);
		load->slots[index].done(&load->slots[index], message.mad);
	}
}

void engine_floor_small(uint64_t count)
{
	load_run(&small, count);
}

void engine_floor_large(uint64_t count)
{
	load_run(&large, count);
}

size_t engine_floor_bytes(void)
{
	return sizeof(struct slot);
}
