/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers for tests of changes in a running fabric. */
#include "change_rig.h"

#include "../interface/everything.h"

const char change_fabric[] = "Switch 4 \"s\"\n"
			     "[1] \"a\"[1]\n"
			     "[2] \"b\"[1]\n"
			     "[3] \"t\"[1]\n"
			     "Switch 4 \"t\"\n"
			     "[2] \"c\"[1]\n"
			     "Ca 2 \"a\"\n"
			     "Ca 1 \"b\"\n"
			     "Ca 1 \"c\"\n"
			     "Ca 1 \"alone\"\n";

int change_start(void **state)
{
	static struct bench bench;

	bench_start_text(&bench, change_fabric, "b", NULL);
	*state = &bench;
	return 0;
}

int count_nodes(struct bench *bench)
{
	bench_request(bench, IBSA_METHOD_GET_TABLE, 0x0011, 0);
	return bench_exchange(bench) ? -1 : (int)bench_count(bench);
}

int query_path(struct bench *bench, uint16_t slid, uint16_t dlid)
{
	const struct ibsa_path want = { .slid = slid, .dlid = dlid };

	return bench_query(bench, IBSA_METHOD_GET, &ibsa_path_record, &want,
			   IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid));
}

void set_service(struct bench *bench)
{
	const struct ibsa_service service = {
		.service_id = 7,
		.service_gid = bench_port(bench).gid,
	};

	assert_int_equal(bench_query(bench, IBSA_METHOD_SET,
				     &ibsa_service_record, &service,
				     IBSA_SERVICE_CM(service_id) |
					     IBSA_SERVICE_CM(service_gid)),
			 0);
}

size_t count_services(struct bench *bench)
{
	bench_request(bench, IBSA_METHOD_GET_TABLE, 0x0031, 0);
	assert_int_equal(bench_exchange(bench), 0);
	return bench_count(bench);
}

void subscribe(struct bench *bench)
{
	assert_int_equal(bench_query(bench, IBSA_METHOD_SET,
				     &ibsa_inform_info_record, &everything, 0),
			 0);
}

size_t count_subscriptions(struct bench *bench)
{
	bench_request(bench, IBSA_METHOD_GET_TABLE, 0x00f3, 0);
	assert_int_equal(bench_exchange(bench), 0);
	return bench_count(bench);
}
