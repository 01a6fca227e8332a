/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file of partitions being read: what its lines and its groups share. */
#ifndef SIM_SA_PARTITION_READER_H
#define SIM_SA_PARTITION_READER_H

#include "sim/topology/cursor.h"
#include "sim/sa/partition.h"

enum {
	DEFAULT_PARTITION = 0x7fff, /* without the bit of full members */
	DEFAULT_RATE = 3,
	DEFAULT_MTU = 4,
	DEFAULT_SCOPE = 2,
	LIFE_TIME = 18,
	IPOIB_QKEY = 0x0b1b,
	SCOPES = 16,
};

enum membership {
	LIMITED,
	FULL,
};

/* What may be said of a group. */
struct group_flags {
	uint64_t rate;
	uint64_t mtu;
	uint64_t sl;
	uint64_t qkey;
	uint64_t tclass;
	uint64_t flow_label;
	uint32_t scopes; /* a bit each; none: the default */
};

struct partition {
	struct slice name; /* in the text */
	uint16_t pkey;
	bool has_members;
};

/* The definition being read. */
struct definition {
	struct partition *partition; /* NULL: none */
	struct group_flags flags;
	enum membership membership; /* where a port does not say */
	bool is_ipoib;
	bool is_first; /* its P_Key goes into the first entry */
};

struct reader {
	struct sa *sa;
	struct ibsa_error *error;
	const char *name;
	unsigned int line;
	struct partition *all;
	size_t count;
	uint16_t generated; /* P_Keys */
	struct definition now;
};

/* A name, and what stands behind "=". */
struct token {
	struct slice name;
	struct slice value;
	bool has_value;
};

/* A sentence with file and line. Return: @err. */
int ibsa__partitions_fail(const struct reader *reader, int err,
			  const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* What stands before @mark, which goes too; false: there is no such mark. */
bool ibsa__partitions_split(struct slice *rest, char mark, struct slice *out);

struct token ibsa__partitions_token(struct slice text);

/* Whether it is a number and nothing else. */
bool ibsa__partitions_number(struct slice text, uint64_t *out);

/* Whether it is the word, or how that begins. */
static inline bool partitions_is_word(struct slice text, const char *word)
{
	return text.len && text.len <= strlen(word) &&
	       !memcmp(text.text, word, text.len);
}

/* Groups (partition_group.c). A flag; 1: it is none of a group's. */
int ibsa__partitions_group_flag(const struct reader *reader,
				const struct token *token,
				struct group_flags *out);

/* The broadcast group of the partition. */
int ibsa__partitions_broadcast(struct reader *reader);

/* mgid=GID[,flag]..., of which @rest is what follows the GID. */
int ibsa__partitions_group(struct reader *reader, struct slice mgid,
			   struct slice rest);

#endif
