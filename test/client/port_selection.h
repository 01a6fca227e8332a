/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ports that tests send queries through: on an embedded fabric with a
 * virtual clock, at a fabric server, or on a transport that holds requests as
 * the kernel does. The SA takes 20 ms for each request.
 */
#ifndef TEST_PORT_SELECTION_H
#define TEST_PORT_SELECTION_H

#include <ibsa/ib_sa.h>
#include <ibsa/fabric.h>

#include "test/client/holding.h"
#include "test/support/server_rig.h"

enum { TEST_PORT_SA_US = 20000 };

struct test_port {
	struct server_rig *server;
	struct ibsa_fabric *fabric;
	struct holding *holding;
	struct ibsa_options options; /* to open a client there */
};

/* The transport of test_port_holding(), which resets it. */
extern struct holding test_port_held;

struct test_port test_port_embedded(void);
struct test_port test_port_at_server(void);
struct test_port test_port_holding(void);
void test_port_end(struct test_port *test_port);

/* Return: a fabric of two hosts: LID 1 with the SA, and LID 2. */
struct ibsa_fabric *test_port_fabric(bool is_virtual);

/* Make the SA stop answering, or answer again. */
void test_port_silence(struct test_port *test_port, bool silent);

/*
 * Path queries through a struct ib_device: number of callbacks, and of those
 * after a reply of the SA, with a record or with an error status.
 */
struct path_replies {
	unsigned int calls;
	unsigned int answered;
};

/* The callback for ib_sa_path_rec_get(); @context is a struct path_replies. */
void path_reply_note(int status, struct sa_path_rec *resp, void *context);

/* Open a client with the options of the port selection. */
struct ibsa_client *test_port_open(const struct test_port *test_port);

#endif
