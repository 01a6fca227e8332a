/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers for tests of the embedded fabric. */
#include <errno.h>
#include <stdlib.h>

#include "support.h"
#include "wire/mad.h"

static const struct ibsa_fabric_options virtual_clock = {
	.virtual_clock = true,
};

static void attach(struct bench *bench, const char *node)
{
	bench->next_tid = 1;
	assert_int_equal(ibsa_fabric_attach(bench->fabric, node, 0,
					    &bench->transport),
			 0);
}

void bench_start_text(struct bench *bench, const char *text, const char *node,
		      const struct ibsa_fabric_options *options)
{
	struct ibsa_error error = { "" };

	memset(bench, 0, sizeof(*bench));
	if (ibsa_fabric_parse(text, strlen(text),
			      options ? options : &virtual_clock, &error,
			      &bench->fabric))
		fail_msg("%s", error.text);
	attach(bench, node);
}

void bench_start_file(struct bench *bench, const char *file, const char *node,
		      const struct ibsa_fabric_options *options)
{
	struct ibsa_error error = { "" };
	char path[512];

	memset(bench, 0, sizeof(*bench));
	snprintf(path, sizeof(path), "%s/fabrics/%s", TEST_DATA, file);
	if (ibsa_fabric_load(path, options ? options : &virtual_clock, &error,
			     &bench->fabric))
		fail_msg("%s", error.text);
	attach(bench, node);
}

void bench_stop(struct bench *bench)
{
	bench->transport->ops->close(bench->transport);
	ibsa_fabric_put(bench->fabric);
}

int bench_setup_b(void **state)
{
	static struct bench bench;

	bench_start_file(&bench, "b.net", "host-r3 mlx5_0", NULL);
	*state = &bench;
	return 0;
}

int bench_teardown(void **state)
{
	bench_stop(*state);
	return 0;
}

struct ibsa_port_state bench_port(struct bench *bench)
{
	struct ibsa_port_state port;

	assert_int_equal(bench->transport->ops->port(bench->transport, &port,
						     sizeof(port)),
			 0);
	return port;
}

struct ibsa_port_state bench_port_at(struct bench *bench, const char *node)
{
	struct bench other = *bench;
	struct ibsa_port_state port;

	assert_int_equal(ibsa_fabric_attach(bench->fabric, node, 0,
					    &other.transport),
			 0);
	port = bench_port(&other);
	other.transport->ops->close(other.transport);
	return port;
}

struct ibsa_fabric_stats bench_stats(const struct bench *bench)
{
	struct ibsa_fabric_stats stats;

	ibsa_fabric_stats_get(bench->fabric, &stats);
	return stats;
}

uint64_t bench_lost(const struct bench *bench)
{
	const struct ibsa_fabric_stats stats = bench_stats(bench);
	uint64_t lost = 0;

	for (int i = 0; i < IBSA_DROP_REASONS; i++)
		lost += stats.drops[i];
	return lost;
}

void bench_set_port(struct bench *bench, const char *node, unsigned int port,
		    struct ibsa_fabric_port_change change)
{
	assert_int_equal(
		ibsa_fabric_port_set(bench->fabric, node, port, &change), 0);
}

void bench_set_link(struct bench *bench, const char *node, unsigned int port,
		    bool is_up)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LINK,
		.link_up = is_up,
	};

	bench_set_port(bench, node, port, change);
}

void bench_set_pkeys(struct bench *bench, const char *node,
		     const uint16_t *pkeys, size_t count)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_PKEYS,
		.pkeys = pkeys,
		.pkey_count = count,
	};

	bench_set_port(bench, node, 1, change);
}

struct ibsa_address bench_address(uint32_t lid)
{
	struct ibsa_address to = { .lid = lid, .qpn = 1 };

	if (lid > UINT16_MAX) {
		to.has_grh = true;
		ibsa_put_be64(to.gid.raw, UINT64_C(0xfe80000000000000));
		ibsa_put_be64(to.gid.raw + 8, UINT64_C(0x00066a) << 40 | lid);
	}
	return to;
}

struct ibsa_address bench_sa(struct bench *bench)
{
	struct ibsa_port_state port;

	assert_int_equal(bench->transport->ops->port(bench->transport, &port,
						     sizeof(port)),
			 0);
	return bench_address(port.sm_lid);
}

uint8_t *bench_request(struct bench *bench, uint8_t method, uint16_t attribute,
		       uint64_t mask)
{
	const struct ibsa_sa_header header = {
		.base_version = 1,
		.mgmt_class = IBSA_CLASS_SA,
		.class_version = IBSA_CLASS_VERSION,
		.method = method,
		.transaction_id = bench->next_tid++,
		.attribute_id = attribute,
		.component_mask = mask,
	};

	memset(bench->request, 0, sizeof(bench->request));
	assert_int_equal(ibsa_record_encode(&ibsa_sa_header_record, &header,
					    sizeof(header), bench->request,
					    sizeof(bench->request)),
			 0);
	return bench->request + IBSA_SA_HEADER_BYTES;
}

void bench_send(struct bench *bench)
{
	const struct ibsa_address to = bench_sa(bench);
	/* What answers is not answered. */
	const unsigned int timeout_ms = bench->request[MAD_METHOD] & 0x80
						? 0
						: BENCH_TIMEOUT_MS;

	assert_int_equal(bench->transport->ops->send(
				 bench->transport, &to, bench->request,
				 sizeof(bench->request), timeout_ms),
			 0);
}

bool bench_receive(struct bench *bench)
{
	int got;

	do {
		got = bench->transport->ops->recv(bench->transport,
						  &bench->answer);
		assert_true(got >= 0);
	} while (got && bench->answer.err == -ETIMEDOUT);
	return got;
}

uint32_t bench_id(const struct bench *bench)
{
	return (uint32_t)IBSA_GET(sa_header, transaction_id, bench->answer.mad);
}

int bench_exchange(struct bench *bench)
{
	bench_send(bench);
	if (!bench_receive(bench))
		return -1;
	return (int)IBSA_GET(sa_header, status, bench->answer.mad);
}

int bench_query(struct bench *bench, uint8_t method,
		const struct ibsa_record *record, const void *match,
		uint64_t mask)
{
	uint8_t *room = bench_request(bench, method, record->attribute, mask);

	assert_int_equal(ibsa_record_encode(record, match, record->host_size,
					    room, IBSA_SA_DATA_BYTES),
			 0);
	return bench_exchange(bench);
}

static size_t stride(const struct bench *bench)
{
	return 8 * IBSA_GET(sa_header, attribute_offset, bench->answer.mad);
}

size_t bench_count(const struct bench *bench)
{
	if (!stride(bench))
		return 0;
	return (bench->answer.len - IBSA_SA_HEADER_BYTES) / stride(bench);
}

const uint8_t *bench_record(const struct bench *bench, size_t index)
{
	return bench->answer.mad + IBSA_SA_HEADER_BYTES + index * stride(bench);
}

char *bench_read(const char *dir, const char *file, size_t *len)
{
	char path[512];
	char *text = NULL;
	size_t got;
	FILE *stream;

	snprintf(path, sizeof(path), "%s/%s/%s", TEST_DATA, dir, file);
	stream = fopen(path, "r");
	if (!stream)
		fail_msg("%s: cannot be read", path);
	*len = 0;
	do {
		text = realloc(text, *len + 4096);
		assert_non_null(text);
		got = fread(text + *len, 1, 4095, stream);
		*len += got;
	} while (got);
	text[*len] = '\0';
	fclose(stream);
	return text;
}

uint64_t bench_mix(uint64_t sum, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ at[i]) * UINT64_C(0x100000001b3);
	return sum;
}
