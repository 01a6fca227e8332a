/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests for paths: from this port to every end, with the ends named in every
 * way, with all selectors, and with many ends at a time.
 */
#include <stdio.h>
#include <string.h>

#include "test/counterpart/same.h"
#include "wire/mad.h"

#define NOBODY UINT64_C(0xdeadbeef)
#define LINK_LOCAL UINT64_C(0xfe80000000000000)
#define FOREIGN UINT64_C(0x2000000000000000)

enum { GIDS_MAX = 11, RATES = 26, MTUS = 8 };

static struct ibsa_gid gid_of(uint64_t prefix, uint64_t guid)
{
	struct ibsa_gid gid;

	ibsa_put_be64(gid.raw, prefix);
	ibsa_put_be64(gid.raw + 8, guid);
	return gid;
}

static struct ibsa_gid gid_at(size_t index)
{
	const struct same_ends *ends = same_ends();

	return gid_of(ends->prefix, ends->all[index % ends->count].guid);
}

/* The group that exists from the start. */
static struct ibsa_gid broadcast_gid(void)
{
	return (struct ibsa_gid){ { 0xff, 0x12, 0x40, 0x1b, 0xff,
				    0xff, [12] = 0xff, 0xff, 0xff, 0xff } };
}

static void send_path(uint8_t method, const struct ibsa_path *path,
		      uint64_t mask, const char *what)
{
	struct request request;

	request_start(&request, method, ATTR_PATH, mask);
	request_name(&request, "PathRecord %s, mask %#llx", what,
		     (unsigned long long)mask);
	if (ibsa_record_encode(&ibsa_path_record, path, sizeof(*path),
			       request_record(&request), 200))
		die("a path that does not fit");
	same_exchange(&request);
}

static void send_both(const struct ibsa_path *path, uint64_t mask,
		      const char *what)
{
	send_path(IBSA_METHOD_GET, path, mask, what);
	send_path(IBSA_METHOD_GET_TABLE, path, mask, what);
}

/*
 * Query paths from this port to a destination; each of the two ends is given
 * in every possible way (LID, GID, both).
 */
static void send_pair(const struct same_end *to)
{
	const struct same_ends *ends = same_ends();
	const uint64_t own[] = { 0, IBSA_PATH_CM(sgid), IBSA_PATH_CM(slid),
				 IBSA_PATH_CM(sgid) | IBSA_PATH_CM(slid) };
	const uint64_t far[] = { 0, IBSA_PATH_CM(dgid), IBSA_PATH_CM(dlid),
				 IBSA_PATH_CM(dgid) | IBSA_PATH_CM(dlid) };
	const struct ibsa_path path = {
		.sgid = gid_of(ends->prefix, ends->own.guid),
		.dgid = gid_of(ends->prefix, to->guid),
		.slid = ends->own.lid,
		.dlid = to->lid,
		.numb_path = 1,
		.reversible = 1,
	};

	for (int i = 0; i < 16; i++)
		send_both(&path, own[i / 4] | far[i % 4], "by ends");
	send_both(&path,
		  IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid) |
			  IBSA_PATH_CM(numb_path) | IBSA_PATH_CM(reversible),
		  "as clients ask");
}

/*
 * Query paths with GIDs and LIDs that possibly belong to no port, and with a
 * GID and a LID that possibly belong to two ports for one end.
 */
static void send_wrong_ends(void)
{
	const struct same_ends *ends = same_ends();
	const struct same_end *own = &ends->own;
	const uint64_t prefixes[] = { ends->prefix, LINK_LOCAL, FOREIGN, 0 };
	const uint64_t guids[] = { own->guid, ends->all[0].guid, NOBODY, 0 };
	const uint16_t lids[] = { 0,	  own->lid, ends->all[0].lid,
				  0x0fff, 0xbfff,   0xc000,
				  0xffff };
	const uint64_t gids = IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid);
	struct ibsa_path path = {
		.sgid = gid_of(ends->prefix, own->guid),
		.slid = own->lid,
	};

	for (size_t i = 0; i < 16; i++) {
		path.dgid = gid_of(prefixes[i / 4], guids[i % 4]);
		send_both(&path, gids, "to a strange GID");
	}
	for (size_t i = 0; i < 16; i++) {
		path.dgid = gid_at(0);
		path.sgid = gid_of(prefixes[i / 4], guids[i % 4]);
		send_both(&path, gids, "from a strange GID");
		send_both(&path, IBSA_PATH_CM(sgid),
			  "from a strange GID alone");
	}
	path.sgid = gid_of(ends->prefix, own->guid);
	for (size_t i = 0; i < 49; i++) {
		path.slid = lids[i / 7];
		path.dlid = lids[i % 7];
		send_path(IBSA_METHOD_GET_TABLE, &path,
			  IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid),
			  "between LIDs");
		send_path(IBSA_METHOD_GET_TABLE, &path,
			  IBSA_PATH_CM(sgid) | IBSA_PATH_CM(slid) |
				  IBSA_PATH_CM(dlid),
			  "from a GID and LID");
	}
}

static void send_quantities(const struct same_end *to)
{
	static const uint8_t lives[] = { 0, 1, 2, 17, 18, 19, 63 };
	const struct same_ends *ends = same_ends();
	const uint64_t gids = IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid);
	struct ibsa_path path = {
		.sgid = gid_of(ends->prefix, ends->own.guid),
		.dgid = gid_of(ends->prefix, to->guid),
	};

	for (uint8_t how = 0; how < 4; how++) {
		path.mtu_selector = path.rate_selector = how;
		path.packet_life_time_selector = how;
		for (path.mtu = 0; path.mtu < MTUS; path.mtu++)
			send_path(IBSA_METHOD_GET, &path,
				  gids | IBSA_PATH_CM(mtu) |
					  IBSA_PATH_CM(mtu_selector),
				  "by MTU");
		for (path.rate = 0; path.rate < RATES; path.rate++)
			send_path(IBSA_METHOD_GET, &path,
				  gids | IBSA_PATH_CM(rate) |
					  IBSA_PATH_CM(rate_selector),
				  "by rate");
		for (size_t i = 0; i < sizeof(lives); i++) {
			path.packet_life_time = lives[i];
			send_path(
				IBSA_METHOD_GET, &path,
				gids | IBSA_PATH_CM(packet_life_time) |
					IBSA_PATH_CM(packet_life_time_selector),
				"by life time");
		}
	}
}

static void send_others(const struct same_end *to)
{
	static const uint16_t pkeys[] = { 0xffff, 0x7fff, 0,	  0x8000,
					  0x8001, 0x1234, 0x802a, 0x2a };
	const struct same_ends *ends = same_ends();
	const uint64_t gids = IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid);
	struct ibsa_path path = {
		.sgid = gid_of(ends->prefix, ends->own.guid),
		.dgid = gid_of(ends->prefix, to->guid),
		.service_id = 7,
		.raw_traffic = 1,
		.flow_label = 5,
		.hop_limit = 6,
		.tclass = 7,
		.qos_class = 8,
		.preference = 9,
	};

	for (unsigned int bit = 0; bit < 24; bit++)
		send_both(&path, gids | UINT64_C(1) << bit, "by one more bit");
	send_both(&path, gids | IBSA_PATH_CM(service_id), "by service");
	for (path.sl = 0; path.sl < 16; path.sl++)
		send_path(IBSA_METHOD_GET, &path, gids | IBSA_PATH_CM(sl),
			  "by SL");
	path.sl = 0;
	for (size_t i = 0; i < sizeof(pkeys) / 2; i++) {
		path.pkey = pkeys[i];
		send_both(&path, gids | IBSA_PATH_CM(pkey), "by P_Key");
		send_both(&path, IBSA_PATH_CM(sgid) | IBSA_PATH_CM(pkey),
			  "from here by P_Key");
	}
	for (unsigned int i = 0; i < 5; i++) {
		path.numb_path = (uint8_t)(i * i * i * 2 - i);
		send_path(IBSA_METHOD_GET_TABLE, &path,
			  IBSA_PATH_CM(sgid) | IBSA_PATH_CM(numb_path),
			  "by number of paths");
	}
}

static void send_multicast(void)
{
	const struct same_ends *ends = same_ends();
	struct ibsa_path path = {
		.sgid = gid_of(ends->prefix, ends->own.guid),
		.dgid = broadcast_gid(),
		.pkey = 0xffff,
		.dlid = 0xc000,
		.slid = ends->own.lid,
	};

	for (unsigned int bit = 0; bit < 24; bit++)
		send_both(&path, IBSA_PATH_CM(dgid) | UINT64_C(1) << bit,
			  "to a group");
	path.dgid = (struct ibsa_gid){ { 0xff, 0x12, 0x12, 0x34, [15] = 1 } };
	send_both(&path, IBSA_PATH_CM(dgid), "to a group with a flow label");
	path.dgid.raw[15] = 0x77;
	send_both(&path, IBSA_PATH_CM(dgid) | IBSA_PATH_CM(sgid),
		  "to no group");
}

void same_make_paths(struct random *dice, bool is_brief)
{
	const struct same_ends *ends = same_ends();

	for (int i = is_brief ? 2 : 0; i < 5; i++) {
		const size_t to = random_below(dice, ends->count);

		send_pair(&ends->all[to]);
	}
	send_pair(&ends->own);
	send_wrong_ends();
	send_quantities(&ends->all[random_below(dice, ends->count)]);
	if (!is_brief)
		send_quantities(&ends->own);
	send_others(&ends->all[random_below(dice, ends->count)]);
	send_multicast();
}

/* MultiPathRecord. IBA vol 1, 15.2.5.20. */
enum {
	MP_AT_RAW = 0,
	MP_AT_HOP_LIMIT = 3,
	MP_AT_TCLASS = 4,
	MP_AT_NUMB_PATH = 5,
	MP_AT_PKEY = 6,
	MP_AT_SL = 9,
	MP_AT_MTU = 10,
	MP_AT_RATE = 11,
	MP_AT_LIFE = 12,
	MP_AT_SGIDS = 15,
	MP_AT_DGIDS = 16,
	MP_AT_GIDS = 24,
	MP_REVERSIBLE = 5,
	MP_NUMB_PATH = 6,
	MP_RATE = 12,
	MP_RATE_SELECTOR,
	MP_COUNTS = 1 << 19 | 1 << 20,
};

static void start_multi(struct request *request, unsigned int from,
			unsigned int to)
{
	uint8_t *record;

	request_start(request, IBSA_METHOD_GET_MULTI, ATTR_MULTIPATH,
		      MP_COUNTS);
	request->mad[MAD_RMPP_VERSION] = 1;
	request->mad[MAD_RMPP_TYPE] = 1;
	request->mad[MAD_RMPP_FLAGS] = 7;
	request_name(request, "MultiPathRecord %u to %u", from, to);
	record = request_record(request);
	record[MP_AT_SGIDS] = (uint8_t)from;
	record[MP_AT_DGIDS] = (uint8_t)to;
	for (unsigned int i = 0; i < GIDS_MAX; i++) {
		const struct ibsa_gid gid = gid_at(i);

		memcpy(record + MP_AT_GIDS + i * 16, gid.raw, 16);
	}
}

static void set_mask(struct request *request, uint64_t mask)
{
	ibsa_put_be64(request->mad + MAD_COMPONENT_MASK, MP_COUNTS | mask);
}

/*
 * Send requests that select by each remaining component alone, with a valid
 * value.
 */
static void send_multi_fields(void)
{
	static const struct {
		uint8_t at;
		uint8_t value;
	} values[] = {
		{ MP_AT_RAW, 0x80 },   { MP_AT_HOP_LIMIT, 1 },
		{ MP_AT_TCLASS, 1 },   { MP_AT_NUMB_PATH, 0x83 },
		{ MP_AT_PKEY, 0x7f },  { MP_AT_PKEY + 1, 0xff },
		{ MP_AT_SL, 1 },       { MP_AT_MTU, 0x83 },
		{ MP_AT_RATE, 0x42 },  { MP_AT_LIFE, 0x92 },
		{ MP_AT_LIFE + 1, 1 }, { MP_AT_LIFE + 2, 0x40 },
	};

	for (unsigned int bit = 0; bit < 23; bit++) {
		struct request request;
		uint8_t *record;

		start_multi(&request, 1, 3);
		record = request_record(&request);
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
			record[values[i].at] = values[i].value;
		set_mask(&request, UINT64_C(1) << bit);
		request_name(&request, "MultiPathRecord by bit %u", bit);
		same_exchange(&request);
		/* A selector with its value. */
		if (bit < 22)
			set_mask(&request, UINT64_C(3) << bit);
		same_exchange(&request);
	}
}

static void send_multi_rates(void)
{
	for (unsigned int rate = 0; rate < 4 * 64;
	     rate += rate % 64 == 25 ? 39 : 1) {
		struct request request;

		start_multi(&request, 1, 2);
		request_record(&request)[MP_AT_RATE] = (uint8_t)rate;
		set_mask(&request, UINT64_C(3) << MP_RATE);
		request_name(&request, "MultiPathRecord by rate %#x", rate);
		same_exchange(&request);
	}
}

static void send_multi_gids(void)
{
	const uint64_t wrong[][2] = {
		{ LINK_LOCAL, 0 },
		{ FOREIGN, 0 },
		{ 0, NOBODY },
		{ UINT64_C(0xff12401bffff0000), UINT64_C(0xffffffff) },
	};

	for (size_t i = 0; i < 8; i++) {
		const uint64_t *gid = wrong[i / 2];
		struct request request;
		uint8_t *at;

		start_multi(&request, 1, 2);
		at = request_record(&request) + MP_AT_GIDS + 16 * (i % 2);
		if (gid[0])
			ibsa_put_be64(at, gid[0]);
		if (gid[1])
			ibsa_put_be64(at + 8, gid[1]);
		request_name(&request, "MultiPathRecord of wrong GID %zu", i);
		same_exchange(&request);
	}
}

/*
 * Send MultiPath requests without required components, with each combination
 * of RMPP flags, and with keys.
 */
static void send_multi_wrong(void)
{
	struct request request;

	for (uint64_t have = 0; have < 3; have++) {
		start_multi(&request, 1, 1);
		ibsa_put_be64(request.mad + MAD_COMPONENT_MASK, have << 19);
		same_exchange(&request);
	}
	for (uint8_t flags = 0; flags < 8; flags++) {
		start_multi(&request, 1, 1);
		request.mad[MAD_RMPP_FLAGS] = flags;
		request_name(&request, "MultiPathRecord, RMPP flags %u", flags);
		same_exchange(&request);
	}
	for (uint64_t key = 0; key < 3; key++) {
		start_multi(&request, 1, 1);
		request_key(&request, key);
		same_exchange(&request);
	}
}

void same_make_multipaths(bool is_brief)
{
	struct request request;

	for (unsigned int from = 0; from < 13; from++) {
		for (unsigned int to = 0; to < 13;
		     to += from ? 1 + to / 3 : 4) {
			start_multi(&request, from, to);
			same_exchange(&request);
		}
	}
	for (unsigned int paths = 0; paths < 6; paths++) {
		for (unsigned int ends = 0; ends < 4; ends++) {
			start_multi(&request, 1 + ends % 2, 1 + ends / 2);
			request_record(&request)[MP_AT_NUMB_PATH] =
				(uint8_t)paths;
			set_mask(&request, 1 << MP_NUMB_PATH);
			request_name(&request, "MultiPathRecord, %u paths, %u",
				     paths, ends);
			same_exchange(&request);
			set_mask(&request, 0);
			same_exchange(&request);
		}
	}
	if (is_brief)
		return;
	send_multi_fields();
	send_multi_rates();
	send_multi_gids();
	send_multi_wrong();
}

void same_make_multi_methods(void)
{
	static const uint8_t methods[] = { IBSA_METHOD_GET, IBSA_METHOD_SET,
					   IBSA_METHOD_GET_TABLE,
					   IBSA_METHOD_DELETE, 0x13 };
	struct request request;

	for (size_t i = 0; i < 2 * sizeof(methods); i++) {
		start_multi(&request, 1, 1);
		request.mad[MAD_METHOD] = methods[i / 2];
		request.mad[MAD_RMPP_FLAGS] = i % 2 ? 7 : 0;
		request_name(&request, "MultiPathRecord by method %#x, %zu",
			     methods[i / 2], i % 2);
		same_exchange(&request);
	}
}
