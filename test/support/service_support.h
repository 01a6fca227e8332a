/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers for tests of service registrations on an embedded fabric. */
#ifndef TEST_SERVICE_SUPPORT_H
#define TEST_SERVICE_SUPPORT_H

#include <ibsa/service.h>
#include <ibsa/fabric.h>

enum { SEEN = 64, MS = 1000000, SECOND = 1000, ID = 0x1234 };

/* The reports of a registration. */
struct diary {
	int count;
	struct ibsa_registration_report reports[SEEN];
	struct ibsa_service services[SEEN];
	bool release; /* release the registration at the next report */
	int release_err, close_err;
	struct ibsa_client *client;
};

/* A fabric with node1 and node2 for each test. */
extern struct ibsa_fabric *fabric;
int set_up(void **state);
int tear_down(void **state);

struct ibsa_client *open_on(const char *node);

/* The ibsa_registration_fn of a struct diary. */
void note(const struct ibsa_registration_report *report, void *arg);

/* Let @ms pass for @client. */
void pass(struct ibsa_client *client, unsigned int ms);

/* A service, and its registration, whose reports go to a diary. */
extern const struct ibsa_service disk;
struct ibsa_registration *service_add(struct ibsa_client *client,
				      const struct ibsa_service *service,
				      struct diary *diary);

/*
 * Check that the @n-th report, counted from 0, is of @event. Return: the
 * report.
 */
const struct ibsa_registration_report *
expect(const struct diary *diary, int n, enum ibsa_registration_event event);

/* Return: whether a client at node2 finds the service with the ID at the SA. */
bool service_lookup(struct ibsa_service *out);

/* Return: the number of requests that the fabric's SA has received. */
uint64_t requests(void);

void fault(enum ibsa_fault_kind kind, double percent);

#endif
