/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parser state that partitions and groups share. */
#ifndef FABRIC_SA_PARTITION_READER_H
#define FABRIC_SA_PARTITION_READER_H

#include "fabric/sa/partition.h"
#include "text/cursor.h"

enum {
	/*
	 * P_Key of the default partition, without the bit of full membership.
	 */
	DEFAULT_PARTITION = 0x7fff,
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
	/*
	 * A bit for each scope in which the multicast group is created; 0: the
	 * default scope.
	 */
	uint32_t scopes;
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
	/*
	 * Membership of those ports of the partition for which the file gives
	 * none.
	 */
	enum membership membership;
	bool is_ipoib;
	/* The partition's P_Key is put into the first entry of P_Key tables. */
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

/*
 * Set the error, with the name of the partition file and the line. Return:
 * @err.
 */
int ibsa__partitions_fail(const struct reader *reader, int err,
			  const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Remove the text before the first @mark from @rest, together with @mark; @out
 * is this text without blanks at its ends. Return: false: @rest has no @mark;
 * @out is then the whole text, and @rest is empty.
 */
bool ibsa__partitions_split(struct slice *rest, char mark, struct slice *out);

struct token ibsa__partitions_token(struct slice text);

/* Whether the text is a number and nothing else; if it is, store the number. */
bool ibsa__partitions_number(struct slice text, uint64_t *out);

/* Whether the text is @word or an abbreviation of it. */
static inline bool partitions_is_word(struct slice text, const char *word)
{
	return text.len && text.len <= strlen(word) &&
	       !memcmp(text.text, word, text.len);
}

/* The words that ibsa__partitions_group_flag() accepts, for a message. */
#define PARTITIONS_GROUP_FLAGS \
	"mtu, rate, sl, scope, Q_Key, TClass or FlowLabel"

/*
 * Parse a flag of a multicast group (partition_group.c). Return: 0; 1 the text
 * is not a flag of a group; -EINVAL the flag's value is invalid.
 */
int ibsa__partitions_group_flag(const struct reader *reader,
				const struct token *token,
				struct group_flags *out);

/* Create the broadcast group of the partition. */
int ibsa__partitions_broadcast(struct reader *reader);

/*
 * Parse a group of the form mgid=GID[,flag]...; @rest is the text after the
 * GID.
 */
int ibsa__partitions_group(struct reader *reader, struct slice mgid,
			   struct slice rest);

#endif
