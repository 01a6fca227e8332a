/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parser state that partitions and groups share. */
#ifndef SIM_SA_PARTITION_READER_H
#define SIM_SA_PARTITION_READER_H

#include "sim/topology/cursor.h"
#include "sim/sa/partition.h"

enum {
	DEFAULT_PARTITION = 0x7fff, /* without the full-membership bit */
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

/* Values of a group. */
struct group_flags {
	uint64_t rate;
	uint64_t mtu;
	uint64_t sl;
	uint64_t qkey;
	uint64_t tclass;
	uint64_t flow_label;
	uint32_t scopes; /* a bit for each scope; 0: the default scope */
};

struct partition {
	struct slice name; /* points into the text */
	uint16_t pkey;
	bool has_members;
};

/* The definition being parsed. */
struct definition {
	struct partition *partition; /* NULL: none */
	struct group_flags flags;
	/* membership of ports for which the file gives none */
	enum membership membership;
	bool is_ipoib;
	/* its P_Key is put into the first entry of P_Key tables */
	bool is_first;
};

struct reader {
	struct sa *sa;
	struct ibsa_error *error;
	const char *name;
	unsigned int line;
	struct partition *all;
	size_t count;
	uint16_t generated; /* the last generated P_Key */
	struct definition now;
};

/* A word, and the value after "=". */
struct token {
	struct slice name;
	struct slice value;
	bool has_value;
};

/* Set the error with file name and line. Return: @err. */
int ibsa__partitions_fail(const struct reader *reader, int err,
			  const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Remove and return the text before @mark, and remove @mark. False: there is no
 * @mark in the text; then the whole text is returned.
 */
bool ibsa__partitions_split(struct slice *rest, char mark, struct slice *out);

struct token ibsa__partitions_token(struct slice text);

/* Whether the text is a number and nothing else. */
bool ibsa__partitions_number(struct slice text, uint64_t *out);

/* Whether the text is @word or an abbreviation of it. */
static inline bool partitions_is_word(struct slice text, const char *word)
{
	return text.len && text.len <= strlen(word) &&
	       !memcmp(text.text, word, text.len);
}

/*
 * Groups (partition_group.c). Parse a flag of a group. Return: 1: it is not a
 * flag of a group; 0; or -EINVAL.
 */
int ibsa__partitions_group_flag(const struct reader *reader,
				const struct token *token,
				struct group_flags *out);

/* Create the broadcast group of the partition. */
int ibsa__partitions_broadcast(struct reader *reader);

/* Parse mgid=GID[,flag]...; @rest is the text after the GID. */
int ibsa__partitions_group(struct reader *reader, struct slice mgid,
			   struct slice rest);

#endif
