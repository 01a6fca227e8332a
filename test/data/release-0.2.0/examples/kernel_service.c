/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * With the kernel's names and without a thread: register a service for a
 * minute, then list all services with its name. Callbacks run in the program's
 * poll() loop. The callback of the first query starts the second query.
 *
 *	cc kernel_service.c $(pkg-config --cflags --libs ibsa) -o kernel_service
 *	./kernel_service GID NAME
 */
#include <ibsa/ib_sa.h>
#include <ibsa/text.h>

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { LEASE_S = 60, TIMEOUT_MS = 5000 };

#define SERVICE_ID UINT64_C(0x1000000000000b5a)

/* Component masks are constants in network byte order. */
static const ib_sa_comp_mask service_mask = IB_SA_SERVICE_REC_SERVICE_ID |
					    IB_SA_SERVICE_REC_SERVICE_GID |
					    IB_SA_SERVICE_REC_SERVICE_PKEY |
					    IB_SA_SERVICE_REC_SERVICE_LEASE |
					    IB_SA_SERVICE_REC_SERVICE_NAME;

struct program {
	struct ib_device *device;
	struct ib_sa_client client;
	const char *name;
	bool done;
	int err;
};

/* The reply contains the MAD status, which is more exact than @status. */
static void error_print(const struct program *program, int status)
{
	const struct ibsa_reply *reply = ibsa_last_reply(program->device);

	fprintf(stderr, "%s: %s%s%s\n", program->name, strerror(-status),
		reply && reply->status ? ": " : "",
		reply && reply->status ? ibsa_status_text(reply->status) : "");
}

static void program_finish(struct program *program, int err)
{
	program->done = true;
	program->err = err;
	if (err != 0)
		error_print(program, err);
}

static void services_print(int status, struct sa_service_rec *resp,
			   unsigned int num_services, void *context)
{
	char text[IBSA_GID_TEXT];
	struct ibsa_gid gid;

	for (unsigned int i = 0; i < num_services; i++) {
		memcpy(&gid, resp[i].gid, sizeof(gid));
		ibsa_gid_format(&gid, text, sizeof(text));
		printf("0x%016" PRIx64 " at %s, %u s\n", be64toh(resp[i].id),
		       text, be32toh(resp[i].lease));
	}
	program_finish(context, status);
}

static int services_query(struct program *program)
{
	struct sa_service_rec rec = { 0 };

	memcpy(rec.name, program->name, strlen(program->name));
	return ib_sa_service_rec_get(&program->client, program->device, 1, &rec,
				     IB_SA_SERVICE_REC_SERVICE_NAME, TIMEOUT_MS,
				     0, services_print, program, NULL);
}

/* Runs inside ibsa_ib_device_dispatch(). */
static void service_registered(int status, struct ib_sa_service_rec *resp,
			       void *context)
{
	struct program *program = context;

	(void)resp;
	if (status == 0)
		status = services_query(program);
	if (status < 0)
		program_finish(program, status);
}

static int service_register(struct program *program, const struct ibsa_gid *gid)
{
	struct ib_sa_service_rec rec = {
		.id = htobe64(SERVICE_ID),
		.pkey = htobe16(0xffff),
		.lease = htobe32(LEASE_S),
	};

	memcpy(&rec.gid, gid, sizeof(rec.gid));
	memcpy(rec.name, program->name, strlen(program->name));
	return ib_sa_service_rec_query(&program->client, program->device, 1,
				       IB_MGMT_METHOD_SET, &rec, service_mask,
				       TIMEOUT_MS, 0, service_registered,
				       program, NULL);
}

/* Another event loop needs the same three functions. */
static int program_wait(const struct program *program)
{
	struct pollfd fd = { .fd = ibsa_ib_device_fd(program->device),
			     .events = POLLIN };

	while (!program->done) {
		int timeout_ms = ibsa_ib_device_timeout_ms(program->device);
		int err;

		if (poll(&fd, 1, timeout_ms) < 0 && errno != EINTR)
			return -errno;
		err = ibsa_ib_device_dispatch(program->device);
		if (err != 0)
			return err;
	}
	return program->err;
}

static int program_run(struct program *program, const struct ibsa_gid *gid)
{
	int err = service_register(program, gid);

	if (err < 0) {
		fprintf(stderr, "cannot send the query: %s\n", strerror(-err));
		return 1;
	}
	return program_wait(program) ? 1 : 0;
}

int main(int argc, char **argv)
{
	const struct ibsa_ib_device_options options = { .no_thread = true };
	struct program program = { .done = false };
	struct ibsa_error error;
	struct ibsa_gid gid;
	int status;

	if (argc != 3 || ibsa_gid_parse(argv[1], &gid) ||
	    strlen(argv[2]) >= sizeof(((struct sa_service_rec *)0)->name)) {
		fprintf(stderr, "usage: %s GID NAME\n", argv[0]);
		return 2;
	}
	program.name = argv[2];
	if (ibsa_ib_device_open(&options, &error, &program.device)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	ib_sa_register_client(&program.client);
	status = program_run(&program, &gid);
	ib_sa_unregister_client(&program.client);
	ibsa_ib_device_put(program.device);
	return status;
}
