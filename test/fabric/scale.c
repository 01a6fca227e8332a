/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The embedded fabric at the size of a large cluster. */
#include <stdlib.h>

#include "support.h"

/* A fat tree of three levels of 36-port switches. */
enum {
	HALF = 18,
	PODS = 36,
	LEAVES = PODS * HALF,
	HOSTS = LEAVES * HALF,
	CORES = HALF * HALF,
	END_PORTS = HOSTS + 2 * LEAVES + CORES,
	TEXT_BYTES = 8 << 20,
};

static void write_leaf(FILE *out, int pod, int leaf)
{
	const int index = pod * HALF + leaf;

	fprintf(out, "Switch 36 \"leaf%d\"\n", index);
	for (int i = 0; i < HALF; i++)
		fprintf(out, "[%d] \"node%d\"[1] # 4xEDR\n", i + 1,
			index * HALF + i);
	for (int i = 0; i < HALF; i++)
		fprintf(out, "[%d] \"mid%d\"[%d] # 4xHDR\n", HALF + i + 1,
			pod * HALF + i, leaf + 1);
}

static void write_mid(FILE *out, int pod, int mid)
{
	fprintf(out, "Switch 36 \"mid%d\"\n", pod * HALF + mid);
	for (int i = 0; i < HALF; i++)
		fprintf(out, "[%d] \"core%d\"[%d] # 4xHDR\n", HALF + i + 1,
			mid * HALF + i, pod + 1);
}

static char *fat_tree(size_t *len)
{
	char *text = malloc(TEXT_BYTES);
	FILE *out = fmemopen(text, TEXT_BYTES, "w");

	assert_non_null(out);
	for (int i = 0; i < HOSTS; i++)
		fprintf(out, "Ca 1 \"node%d\"\n", i);
	for (int i = 0; i < LEAVES; i++) {
		write_leaf(out, i / HALF, i % HALF);
		write_mid(out, i / HALF, i % HALF);
	}
	for (int i = 0; i < CORES; i++)
		fprintf(out, "Switch 36 \"core%d\"\n", i);
	*len = (size_t)ftell(out);
	fclose(out);
	return text;
}

static int start(void **state)
{
	static struct bench bench;
	size_t len;
	char *text = fat_tree(&len);

	text[len] = '\0';
	bench_start_text(&bench, text, "node7", NULL);
	free(text);
	*state = &bench;
	return 0;
}

static int stop(void **state)
{
	bench_stop(*state);
	return 0;
}

static void eleven_thousand_hosts_are_one_subnet(void **state)
{
	const struct ibsa_node all = { 0 };
	struct bench *bench = *state;
	struct ibsa_fabric_info info;

	ibsa_fabric_info_get(bench->fabric, &info);
	assert_int_equal(info.adapters, HOSTS);
	assert_int_equal(info.lids, END_PORTS);
	assert_int_equal(bench_query(bench, IBSA_METHOD_GET_TABLE,
				     &ibsa_node_record, &all, 0),
			 0);
	assert_int_equal(bench_count(bench), END_PORTS);
	assert_int_equal(bench->answer.len,
			 IBSA_SA_HEADER_BYTES + END_PORTS * 112);
}

static void far_hosts_have_paths_between_them(void **state)
{
	struct bench *bench = *state;

	for (unsigned int i = 0; i < HOSTS; i += 97) {
		struct ibsa_fabric_port port;
		struct ibsa_path want = { .slid = 1 };

		assert_int_equal(ibsa_fabric_port_at(bench->fabric, i, &port),
				 0);
		want.dlid = (uint16_t)port.state.lid;
		assert_int_equal(bench_query(bench, IBSA_METHOD_GET,
					     &ibsa_path_record, &want,
					     IBSA_PATH_CM(slid) |
						     IBSA_PATH_CM(dlid)),
				 0);
		assert_int_equal(IBSA_GET(path, rate, bench_record(bench, 0)),
				 16);
	}
}

static void send_late(struct bench *bench, unsigned int count)
{
	while (count--) {
		bench_request(bench, IBSA_METHOD_GET, 0x0001, 0);
		bench_send(bench);
	}
}

/* A file waits for 65536 answers at most. */
static void hundred_thousand_messages_may_be_in_flight(void **state)
{
	enum { COUNT = 100000 };
	const struct ibsa_fault delay = { IBSA_FAULT_DELAY, 50, 0, 1000 };
	struct bench *bench = *state;
	struct bench other = *bench;
	unsigned int received = 0;

	assert_int_equal(ibsa_fabric_attach(bench->fabric, "node8", 0,
					    &other.transport),
			 0);
	assert_int_equal(ibsa_fabric_fault(bench->fabric, &delay), 0);
	send_late(bench, COUNT / 2);
	send_late(&other, COUNT / 2);
	for (int i = 0; i < 3000; i++) {
		assert_int_equal(ibsa_fabric_advance(bench->fabric, 1000000),
				 0);
		while (bench_receive(bench))
			received++;
		while (bench_receive(&other))
			received++;
	}
	assert_int_equal(received, COUNT);
	other.transport->ops->close(other.transport);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(eleven_thousand_hosts_are_one_subnet),
		cmocka_unit_test(far_hosts_have_paths_between_them),
		cmocka_unit_test(hundred_thousand_messages_may_be_in_flight),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
