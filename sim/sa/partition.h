/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Partitions from a file in OpenSM's format: who has which P_Key, and the
 * groups that are there from the start.
 */
#ifndef SIM_SA_PARTITION_H
#define SIM_SA_PARTITION_H

#include "sim/sa/sa.h"

/* More in one file are refused. */
enum { PARTITIONS_MAX = 4096 };

/*
 * Set up all end ports as the file says, and its groups, instead of what
 * there is without one. Return: 0; -EINVAL with a sentence in @error; -ENOMEM;
 * or the error of opening the file.
 */
int ibsa__partitions_read(struct sa *sa, const char *path,
			  struct ibsa_error *error);

/* The same of a text, whose name for sentences is @name (fuzzing). */
int ibsa__partitions_parse(struct sa *sa, const char *name, const char *text,
			   size_t len, struct ibsa_error *error);

#endif
