/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The same questions to OpenSM and to the embedded SA: what is asked, what is
 * answered, and which differences are known.
 */
#ifndef TEST_COUNTERPART_SAME_H
#define TEST_COUNTERPART_SAME_H

#include <ibsa/bits.h>
#include <ibsa/records.h>
#include <ibsa/sa.h>

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
struct question {
	char what[120];
	uint8_t mad[IBSA_MAD_BYTES];
};

struct answer {
	size_t len; /* 0: silence */
	uint8_t bytes[ANSWER_BYTES];
};

static inline size_t answer_stride(const struct answer *answer)
{
	return 8 * (size_t)IBSA_GET(sa_header, attribute_offset, answer->bytes);
}

/* Records in an answer that is a table. */
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

/* One value of a record, and the bit of the component mask that selects it. */
struct spot {
	const char *name;
	uint16_t at; /* bits from the record's beginning */
	uint16_t nbits;
	uint8_t bit;
	bool is_frail; /* OpenSM ends by a value that it does not know */
};

struct asked_record {
	const char *name;
	uint16_t attribute;
	uint8_t spot_count;
	bool is_settable;
	struct spot spots[SPOTS_MAX];
};

/* All records that are asked for (same_records.c). */
const struct asked_record *same_record(unsigned int index);

/*
 * Asks both the question and compares. Return: what OpenSM has answered, which
 * stays until the next question (same_questions.c).
 */
struct answer *same_ask(const struct question *question);

/* Asks the embedded SA alone. */
void same_ask_embedded(const struct question *question, struct answer *out);

/*
 * What there is to ask about (same_make.c, same_path.c, same_state.c). Brief is
 * without what does not depend on the fabric.
 */
void same_make(struct random *dice, bool is_brief);
void same_make_paths(struct random *dice, bool is_brief);
void same_make_multipaths(bool is_brief);
/* By methods and with attributes that there are not. */
void same_make_methods(void);
void same_make_multi_methods(void);
void same_make_state(void);
void same_make_state_end(void);

/* A request with all that is usual. */
void question_start(struct question *out, uint8_t method, uint16_t attribute,
		    uint64_t mask);
void question_name(struct question *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void question_key(struct question *out, uint64_t sm_key);

static inline uint8_t *question_record(struct question *question)
{
	return question->mad + IBSA_SA_HEADER_BYTES;
}

/* The ends that paths and members are asked of, from OpenSM's NodeRecords. */
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
 * A difference that is known. @level makes both answers the same as far as it
 * goes, and says whether it had to.
 */
struct difference {
	const char *name;
	const char *reason;
	bool (*level)(const struct question *question, struct answer *theirs,
		      struct answer *ours);
};

extern const struct difference same_differences[];

/*
 * A ProxyJoin that is where OpenSM has it on a little-endian machine is put
 * where it belongs: so that the embedded SA is asked for what OpenSM is.
 */
bool same_turn_proxy(uint8_t *member);
extern const size_t same_difference_count;

/*
 * Routes (same_routes.c): tables as both say that they are, to be learned
 * first. Entries of LFT blocks become hop counts.
 */
void same_routes_learn(struct answer *links, struct answer *theirs,
		       struct answer *ours);
bool same_routes_level(struct answer *theirs, struct answer *ours);

/*
 * Multicast trees (same_trees.c), after the routes. Learning is false if one
 * is not a tree, or reaches others than its counterpart; levelling leaves out
 * the cables between switches.
 */
bool same_trees_learn(struct answer *theirs, struct answer *ours);
/* Whether nobody is at a switch, in either: then it need not have a record. */
bool same_is_transit(uint16_t lid);

bool same_trees_level(struct answer *theirs, struct answer *ours);

/* The switch that a cable of a switch leads to; 0: none. */
uint16_t same_switch_beyond(uint16_t lid, unsigned int port);

_Noreturn void die(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

#endif
