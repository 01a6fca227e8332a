/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The same requests to OpenSM and to the embedded SA: requests, answers, and
 * known differences.
 */
#ifndef TEST_COUNTERPART_SAME_H
#define TEST_COUNTERPART_SAME_H

#include <ibsa/types.h>
#include <ibsa/records.h>

#include "base/random.h"

enum {
	ANSWER_BYTES = 1 << 20,
	SPOTS_MAX = 80,
	SAME_RECORDS_MAX = 24,

	/* Attributes. */
	ATTR_LFT = 0x0015,
	ATTR_MFT = 0x0017,
	ATTR_LINK = 0x0020,
	ATTR_GUID_INFO = 0x0030,
	ATTR_PATH = 0x0035,
	ATTR_MCMEMBER = 0x0038,
	ATTR_MULTIPATH = 0x003a,
};

/* A request, and words for the log. */
struct request {
	char what[120];
	uint8_t mad[IBSA_MAD_BYTES];
};

struct answer {
	size_t len; /* 0: no answer */
	uint8_t bytes[ANSWER_BYTES];
};

static inline size_t answer_stride(const struct answer *answer)
{
	return 8 * (size_t)IBSA_GET(sa_header, attribute_offset, answer->bytes);
}

/* Return: the number of records in an answer that is a table. */
static inline size_t answer_count(const struct answer *answer)
{
	const size_t stride = answer->len ? answer_stride(answer) : 0;

	return stride ? (answer->len - IBSA_SA_HEADER_BYTES) / stride : 0;
}

static inline uint8_t *answer_at(struct answer *answer, size_t index)
{
	return answer->bytes + IBSA_SA_HEADER_BYTES +
	       index * answer_stride(answer);
}

static inline uint16_t mad_attribute(const uint8_t *mad)
{
	return (uint16_t)IBSA_GET(sa_header, attribute_id, mad);
}

/* A value in a record, and the component mask bit that selects it. */
struct spot {
	const char *name;
	uint16_t at; /* offset in bits */
	uint16_t nbits;
	uint8_t bit;
	/*
	 * OpenSM crashes if a request contains an unknown value of this field.
	 */
	bool is_frail;
};

struct asked_record {
	const char *name;
	uint16_t attribute;
	uint8_t spot_count;
	bool is_settable;
	struct spot spots[SPOTS_MAX];
};

/* The records that the requests select (same_records.c). */
const struct asked_record *same_record(unsigned int index);

/*
 * Send a request to OpenSM and to the embedded SA, and compare the answers.
 * Return: OpenSM's answer, valid until the next call (same_requests.c).
 */
struct answer *same_exchange(const struct request *request);

/* Send a request to the embedded SA only. */
void same_exchange_embedded(const struct request *request, struct answer *out);

/*
 * Make the requests (same_make.c, same_path.c, same_state.c). Brief: without
 * requests that do not depend on the fabric.
 */
void same_make(struct random *dice, bool is_brief);
void same_make_paths(struct random *dice, bool is_brief);
void same_make_multipaths(bool is_brief);
/* Make requests with all methods and with unknown attributes. */
void same_make_methods(void);
void same_make_multi_methods(void);
void same_make_state(void);
void same_make_state_end(void);

/* Start a request with the usual header. */
void request_start(struct request *out, uint8_t method, uint16_t attribute,
		   uint64_t mask);
void request_name(struct request *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void request_key(struct request *out, uint64_t sm_key);

static inline uint8_t *request_record(struct request *request)
{
	return request->mad + IBSA_SA_HEADER_BYTES;
}

/* An end port for requests of paths and members, from OpenSM's NodeRecords. */
struct same_end {
	uint64_t guid;
	uint16_t lid;
	uint8_t type;
};

enum { SAME_ENDS_MAX = 256 };

struct same_ends {
	struct same_end all[SAME_ENDS_MAX];
	size_t count;
	uint64_t prefix;
	struct same_end own;
};

const struct same_ends *same_ends(void);

/*
 * A known difference between the SAs. @level removes it from both answers, as
 * far as it applies, and returns whether it applied.
 */
struct difference {
	const char *name;
	const char *reason;
	bool (*level)(const struct request *request, struct answer *theirs,
		      struct answer *ours);
};

extern const struct difference same_differences[];

/*
 * Move ProxyJoin from the bit where OpenSM has it on a little-endian machine to
 * the right one, so that the embedded SA gets the same request. Return: whether
 * it was set.
 */
bool same_turn_proxy(uint8_t *member);
extern const size_t same_difference_count;

/*
 * Routes (same_routes.c): learn the tables of both SAs first. Then entries of
 * LFT blocks are replaced by hop counts.
 */
void same_routes_learn(struct answer *links, struct answer *theirs,
		       struct answer *ours);
bool same_routes_level(struct answer *theirs, struct answer *ours);

/* Whether a switch has this LID, according to the tables of the SAs. */
bool same_is_switch(uint16_t lid);

/*
 * Multicast trees (same_trees.c); call these functions after those for routes.
 * same_trees_learn() returns false if a group is not a tree, or reaches other
 * ports than in the other SA. same_trees_level() removes the cables between
 * switches.
 */
bool same_trees_learn(struct answer *theirs, struct answer *ours);
/*
 * Whether a switch has no end ports in either SA: then its record may be
 * missing.
 */
bool same_is_transit(uint16_t lid);

bool same_trees_level(struct answer *theirs, struct answer *ours);

/*
 * Return: the switch at the other end of a switch port's cable; 0: there is
 * none.
 */
uint16_t same_switch_beyond(uint16_t lid, unsigned int port);

_Noreturn void die(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

#endif
