/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps a service, and writes a line for each of its events, until SIGINT.
 *
 * usage: registration ID NAME LEASE AUDIT_MS
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/service.h>

static volatile sig_atomic_t interrupted;

static void on_signal(int signal)
{
	(void)signal;
	interrupted = 1;
}

static void tell(const struct ibsa_registration_report *report, void *arg)
{
	(void)arg;
	printf("%s %d 0x%04x %s %u\n",
	       ibsa_registration_event_name(report->event), report->err,
	       report->status, report->service->service_name,
	       report->service->service_lease);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = on_signal };
	struct ibsa_service service = { 0 };
	struct ibsa_service_options registration_options = { .service =
								     &service };
	struct ibsa_client *client;
	struct ibsa_error error;
	struct ibsa_registration *registration;
	int err;

	if (argc != 5)
		return 2;
	service.service_id = strtoull(argv[1], NULL, 0);
	snprintf(service.service_name, sizeof(service.service_name), "%s",
		 argv[2]);
	service.service_lease = (uint32_t)strtoul(argv[3], NULL, 0);
	registration_options.audit_ms = (unsigned int)strtoul(argv[4], NULL, 0);
	sigaction(SIGINT, &action, NULL);
	if (ibsa_open(NULL, &error, &client)) {
		fprintf(stderr, "%s\n", error.text);
		return 4;
	}
	err = ibsa_service_register(client, &registration_options, tell, NULL,
				    &registration);
	while (!interrupted && (!err || err == -EINTR))
		err = ibsa_wait(client, 200);
	ibsa_close(client);
	return err && err != -EINTR;
}
