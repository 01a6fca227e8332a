/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's calls with their n-th allocation failing, for every n. */
#include "test/support/fail_alloc.h"
#include "test/ib_sa/rig.h"

enum { KINDS = 7, NODE1_PORT1 = 0x100001 };

/* The result of one run. */
struct run {
	int accepted;
	int calls;
	int good;
	bool is_watched;
};

static void note(struct run *run, int status)
{
	/*
	 * Errors besides -ENOMEM: -EIO: the request could not be created;
	 * -ETIMEDOUT: the fabric could not store its reply; -EINVAL: the fabric
	 * could not store a record; -ENODATA: that record was then not found.
	 */
	assert_true(!status || status == -ENOMEM || status == -EIO ||
		    status == -ETIMEDOUT || status == -EINVAL ||
		    status == -ENODATA);
	run->calls++;
	run->good += !status;
}

static void on_path(int status, struct sa_path_rec *resp, void *context)
{
	(void)resp;
	note(context, status);
}

static void on_service(int status, struct ib_sa_service_rec *resp,
		       void *context)
{
	(void)resp;
	note(context, status);
}

static void on_services(int status, struct sa_service_rec *resp,
			unsigned int count, void *context)
{
	assert_int_equal(resp != NULL, !status);
	assert_int_equal(count, !status);
	note(context, status);
}

static void on_mcmember(int status, struct ib_sa_mcmember_rec *resp,
			void *context)
{
	(void)resp;
	note(context, status);
}

static void on_guid_info(int status, struct ib_sa_guidinfo_rec *resp,
			 void *context)
{
	(void)resp;
	note(context, status);
}

/* The callback frees the membership, because it does not return 0. */
static int on_multicast(int status, struct ib_sa_multicast *multicast)
{
	note(multicast->context, status);
	return -1;
}

static struct ib_sa_service_rec service(void)
{
	struct ib_sa_service_rec rec = { .name = "here" };

	rec.id = htobe64(7);
	rec.gid.global.subnet_prefix = htobe64(UINT64_C(0xfe80) << 48);
	rec.gid.global.interface_id = htobe64(7);
	return rec;
}

/* Query the record of IPoIB's broadcast group. */
static int member_query(struct rig *rig, struct run *run)
{
	struct ib_sa_mcmember_rec rec = { .join_state = 1 };
	struct ib_sa_query *query;

	rec.mgid.global.subnet_prefix = htobe64(UINT64_C(0xff12401bffff0000));
	rec.mgid.global.interface_id = htobe64(0xffffffff);
	return ib_sa_mcmember_rec_query(&rig->client, rig->device, 1,
					IB_MGMT_METHOD_GET, &rec,
					IB_SA_MCMEMBER_REC_MGID, RIG_TIMEOUT_MS,
					0, on_mcmember, run, &query);
}

/*
 * The first event reports whether the subscription exists. While memory is
 * short, the library tries again until the watch ends, which is reported, too.
 */
static void on_event(const struct ibsa_event *event, void *arg)
{
	struct run *run = arg;

	if (run->is_watched)
		return;
	run->is_watched = true;
	note(run, event->kind == IBSA_EVENT_SUBSCRIBED ? 0 : -ENOMEM);
}

static int watch(struct rig *rig, struct run *run)
{
	const struct ibsa_gid gid = { { 0xfe } };
	const struct ibsa_event_options options = { .gids = &gid,
						    .gid_count = 1 };
	struct ibsa_device_watch *handle;

	run->is_watched = false;
	return ibsa_device_watch_start(&rig->client, rig->device, 1, &options,
				       on_event, run, &handle);
}

/* Join the same group. */
static int join(struct rig *rig, struct run *run)
{
	struct ib_sa_mcmember_rec rec = { .join_state = 1 };
	const struct ib_sa_multicast *multicast;

	rec.mgid.global.subnet_prefix = htobe64(UINT64_C(0xff12401bffff0000));
	rec.mgid.global.interface_id = htobe64(0xffffffff);
	rec.port_gid.global.subnet_prefix = htobe64(UINT64_C(0xfe80) << 48);
	rec.port_gid.global.interface_id = htobe64(NODE1_PORT1);
	multicast = ib_sa_join_multicast(&rig->client, rig->device, 1, &rec,
					 IB_SA_MCMEMBER_REC_MGID |
						 IB_SA_MCMEMBER_REC_PORT_GID |
						 IB_SA_MCMEMBER_REC_JOIN_STATE,
					 0, on_multicast, run);
	return ibsa_is_err(multicast) ? ibsa_ptr_err(multicast) : 0;
}

static int guids_query(struct rig *rig, struct run *run)
{
	struct ib_sa_guidinfo_rec rec = { .lid = htobe16(1) };

	return ib_sa_guid_info_rec_query(
		&rig->client, rig->device, 1, &rec,
		IB_SA_GUIDINFO_REC_LID | IB_SA_GUIDINFO_REC_BLOCK_NUM,
		IB_MGMT_METHOD_GET, RIG_TIMEOUT_MS, 0, on_guid_info, run, NULL);
}

static int run_query(struct rig *rig, int kind, struct run *run)
{
	struct ib_sa_service_rec rec = service();
	struct sa_service_rec any = { .id = rec.id };
	struct ib_sa_query *query;

	switch (kind) {
	case 0:
		return rig_query_on(&rig->client, rig->device, 1, 2,
				    RIG_TIMEOUT_MS, on_path, run, &query);
	case 1:
		return ib_sa_service_rec_query(
			&rig->client, rig->device, 1, IB_MGMT_METHOD_SET, &rec,
			IB_SA_SERVICE_REC_SERVICE_ID |
				IB_SA_SERVICE_REC_SERVICE_GID,
			RIG_TIMEOUT_MS, 0, on_service, run, &query);
	case 2:
		return ib_sa_service_rec_get(&rig->client, rig->device, 1, &any,
					     IB_SA_SERVICE_REC_SERVICE_ID,
					     RIG_TIMEOUT_MS, 0, on_services,
					     run, &query);
	case 3:
		return member_query(rig, run);
	case 4:
		return join(rig, run);
	case 5:
		return guids_query(rig, run);
	default:
		return watch(rig, run);
	}
}

/*
 * Start one query of each kind. An accepted query has one callback, a rejected
 * query has no callback.
 */
static void run_all(struct rig *rig, struct run *run)
{
	for (int kind = 0; kind < KINDS; kind++) {
		const int err = run_query(rig, kind, run);

		if (err < 0) {
			assert_int_equal(err, -ENOMEM);
			continue;
		}
		run->accepted++;
		while (run->calls < run->accepted)
			(void)ibsa_ib_device_wait(rig->device, -1);
	}
}

/* Return: whether there was no failure. */
static bool survives(long allocations)
{
	struct rig rig = { .fabric = rig_fabric(true) };
	const struct ibsa_ib_device_options options = { .on = rig.fabric,
							.no_thread = true };
	struct run run = { 0 };
	int err;

	fail_alloc_after(allocations);
	ib_sa_register_client(&rig.client);
	err = ibsa_ib_device_open(&options, NULL, &rig.device);
	if (err)
		assert_int_equal(err, -ENOMEM);
	else
		run_all(&rig, &run);
	ib_sa_unregister_client(&rig.client);
	ibsa_ib_device_put(rig.device);
	fail_alloc_after(-1);
	ibsa_fabric_put(rig.fabric);
	assert_int_equal(run.calls, run.accepted);
	return run.good == KINDS;
}

static void every_allocation_may_fail(void **state)
{
	long n = 0;

	(void)state;
	while (!survives(n))
		n++;
	assert_true(n > 10);
}

/* After the first query, no memory is allocated. */
static void warm_queries_do_not_allocate(void **state)
{
	struct run run = { 0 };
	struct rig rig;

	(void)state;
	rig_start(&rig);
	run_all(&rig, &run);
	run_all(&rig, &run);
	fail_alloc_after(0);
	for (int i = 0; i < 1000; i++) {
		run = (struct run){ .accepted = 1 };
		assert_true(run_query(&rig, 0, &run) >= 0);
		while (!run.calls)
			(void)ibsa_ib_device_wait(rig.device, -1);
		assert_int_equal(run.good, 1);
	}
	fail_alloc_after(-1);
	rig_stop(&rig);
}

/* Read the first entry of the GID table; or, with @gid, find the entry. */
static const struct ib_gid_attr *entry_get(struct ib_device *device,
					   const union ib_gid *gid)
{
	return gid ? rdma_find_gid_by_port(device, gid, IB_GID_TYPE_IB, 1, 0)
		   : rdma_get_gid_attr(device, 1, 0);
}

/* The first use of a GID table opens the port. */
static void short_memory_is_reported(void **state)
{
	const union ib_gid *wanted = NULL;
	union ib_gid gid;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct ibsa_fabric *fabric = rig_fabric(true);
		struct ib_device *device = rig_open(fabric, "node1", true);
		const struct ib_gid_attr *found;
		long allocations = 0;

		do {
			fail_alloc_after(allocations++);
			found = entry_get(device, wanted);
			fail_alloc_after(-1);
			if (ibsa_is_err(found))
				assert_int_equal(ibsa_ptr_err(found), -ENOMEM);
		} while (ibsa_is_err(found));
		assert_true(allocations > 2);
		gid = found->gid;
		wanted = &gid;
		rdma_put_gid_attr(found);
		ibsa_ib_device_put(device);
		ibsa_fabric_put(fabric);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(warm_queries_do_not_allocate),
		cmocka_unit_test(short_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
