/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers for tests of the kernel's calls. */
#include "test/ib_sa/rig.h"
#include "test/support/three_nodes.h"

struct ibsa_fabric *rig_fabric(bool virtual_clock)
{
	const struct ibsa_fabric_options options = {
		.virtual_clock = virtual_clock,
	};
	struct ibsa_fabric *fabric = NULL;

	assert_int_equal(ibsa_fabric_parse(three_nodes, sizeof(three_nodes) - 1,
					   &options, NULL, &fabric),
			 0);
	return fabric;
}

struct ib_device *rig_open(struct ibsa_fabric *fabric, const char *node,
			   bool no_thread)
{
	const struct ibsa_ib_device_options options = {
		.name = node,
		.on = fabric,
		.no_thread = no_thread,
	};
	struct ib_device *device = NULL;

	assert_int_equal(ibsa_ib_device_open(&options, NULL, &device), 0);
	return device;
}

void rig_start(struct rig *rig)
{
	rig_start_on(rig, rig_fabric(true));
}

void rig_start_on(struct rig *rig, struct ibsa_fabric *fabric)
{
	*rig = (struct rig){ .fabric = fabric };
	rig->device = rig_open(rig->fabric, "node1", true);
	ib_sa_register_client(&rig->client);
}

void rig_stop(struct rig *rig)
{
	ib_sa_unregister_client(&rig->client);
	ibsa_ib_device_put(rig->device);
	ibsa_fabric_put(rig->fabric);
}

void rig_silence(struct rig *rig, bool silent)
{
	const struct ibsa_fault fault = {
		.kind = IBSA_FAULT_SILENCE,
		.percent = silent ? 100 : 0,
	};

	assert_int_equal(ibsa_fabric_fault(rig->fabric, &fault), 0);
}

int rig_query_on(struct ib_sa_client *client, struct ib_device *device,
		 uint8_t port, uint16_t dlid, unsigned long timeout_ms,
		 void (*callback)(int, struct sa_path_rec *, void *),
		 void *context, struct ib_sa_query **query)
{
	struct sa_path_rec rec = { .numb_path = 1 };

	rec.ib.slid = htobe16(1);
	rec.ib.dlid = htobe16(dlid);
	return ib_sa_path_rec_get(client, device, port, &rec,
				  IB_SA_PATH_REC_SLID | IB_SA_PATH_REC_DLID |
					  IB_SA_PATH_REC_NUMB_PATH,
				  timeout_ms, 0, callback, context, query);
}

int rig_query(struct rig *rig, uint16_t dlid, struct told *told,
	      struct ib_sa_query **query)
{
	told->device = rig->device;
	return rig_query_on(&rig->client, rig->device, 1, dlid, RIG_TIMEOUT_MS,
			    told_path, told, query);
}

void rig_run(struct rig *rig, const struct told *told)
{
	const int calls = told->calls;

	while (told->calls == calls)
		assert_int_equal(ibsa_ib_device_wait(rig->device, -1), 0);
}

static void note(struct told *told, int status, bool has_resp)
{
	const struct ibsa_reply *reply = told->device
						 ? ibsa_last_reply(told->device)
						 : NULL;

	told->calls++;
	told->status = status;
	told->has_resp = has_resp;
	told->has_reply = reply != NULL;
	if (reply)
		told->reply = *reply;
}

void told_path(int status, struct sa_path_rec *resp, void *context)
{
	struct told *told = context;

	note(told, status, resp != NULL);
	if (resp)
		told->path = *resp;
}

void told_service(int status, struct ib_sa_service_rec *resp, void *context)
{
	struct told *told = context;

	note(told, status, resp != NULL);
	if (resp)
		told->service = *resp;
}

void told_services(int status, struct sa_service_rec *resp, unsigned int count,
		   void *context)
{
	struct told *told = context;

	note(told, status, resp != NULL);
	told->count = count;
	for (unsigned int i = 0; resp && i < count && i < RIG_RECORDS; i++)
		told->services[i] = resp[i];
}

void told_mcmember(int status, struct ib_sa_mcmember_rec *resp, void *context)
{
	struct told *told = context;

	note(told, status, resp != NULL);
	if (resp)
		told->mcmember = *resp;
}

void told_guid_info(int status, struct ib_sa_guidinfo_rec *resp, void *context)
{
	struct told *told = context;

	note(told, status, resp != NULL);
	if (resp)
		told->guid_info = *resp;
}
