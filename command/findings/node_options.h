/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the findings about this machine are compared with. */
#ifndef COMMAND_NODE_OPTIONS_H
#define COMMAND_NODE_OPTIONS_H

#include <stdint.h>

#include "base/rate.h"

enum { PKEYS_MAX = 16 };

/* The P_Keys of --pkey. */
struct pkey_list {
	uint16_t all[PKEYS_MAX];
	int count;
};

/**
 * struct node_options - options of ibsa check node and ibsa metrics
 * @rate:  rate of --rate; its kind is RATE_ANY if not given
 * @pkeys: P_Keys that ports must have
 * @peers: file of --peers, or NULL
 * @expect: of ibsa check node: a topology file that has the peers, or NULL
 */
struct node_options {
	struct rate_limit rate;
	struct pkey_list pkeys;
	const char *peers;
	const char *expect;
};

/*
 * Parse the value of --pkey into a struct pkey_list, or of --rate into a struct
 * rate_limit. Return: the exit status; a failure is printed.
 */
int pkey_option(void *to, const char *value);
int rate_option(void *to, const char *value);

#endif
