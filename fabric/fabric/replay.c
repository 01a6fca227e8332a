/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes a fabric from a capture: it has the port of the first requester, and a
 * switch that answers with the recorded answers of the SA.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/large.h"
#include "base/read_file.h"
#include "common/tar.h"
#include "fabric/mad/mad.h"
#include "fabric/capture/pcap.h"
#include "fabric/capture/select.h"
#include "fabric/fabric/replay.h"
#include "wire/request.h"

/* Names of the two nodes in the fabric. */
#define PORT_NAME "recorded"
#define SA_NAME "recorded SA"

/*
 * Refuse a request that is not in the recording: without an answer the client
 * would wait for a timeout, and an empty answer would mean that there are no
 * records.
 */
static bool request_refuse(const uint8_t *request, struct sa_reply *reply)
{
	memcpy(reply->bytes, request, IBSA_MAD_BYTES);
	reply->bytes[MAD_METHOD] = ibsa__response_method(request[MAD_METHOD]);
	ibsa_put_be16(reply->bytes + MAD_STATUS, IBSA_STATUS_NOT_RECORDED);
	reply->len = IBSA_MAD_BYTES;
	return true;
}

/*
 * Answer a request from the recording @arg; it is the member answer of struct
 * sa_source.
 */
static bool recording_answer(void *arg, const uint8_t *request,
			     struct sa_reply *reply)
{
	enum { TID_BYTES = 8 };
	struct recording *recording = arg;
	const struct exchange *exchange;

	/* Responses are never answered. */
	if (request[MAD_METHOD] & METHOD_RESPONSE)
		return false;
	exchange = ibsa__recording_query(recording, request);
	if (!exchange && !ibsa__recording_select(recording, request, reply))
		return request_refuse(request, reply);
	if (exchange &&
	    (!exchange->is_whole ||
	     !ibsa__sa_reply_put(reply, exchange->answer, exchange->len)))
		return false;
	memcpy(reply->bytes + MAD_TID, request + MAD_TID, TID_BYTES);
	return true;
}

/*
 * Check that the options contain none that needs a topology file: these do not
 * apply to a capture.
 */
static int options_check(const char *path,
			 const struct ibsa_fabric_options *options,
			 struct ibsa_error *error)
{
	if (!options->sa_node && !options->opa && !options->no_opa_paths &&
	    !options->first_lid && !options->no_sa && !options->gid_prefix &&
	    !options->check && !options->partitions && !options->profile)
		return 0;
	return ibsa__fail(error, -EINVAL,
			  "%.100s is a capture: it has no topology to check, "
			  "and only the options for the clock, the seed and "
			  "the latency are allowed; remove the others",
			  path);
}

static int recording_load(const char *path, struct ibsa_error *error,
			  struct recording *out)
{
	char *bytes = NULL;
	size_t len = 0;
	const uint8_t *mads;
	int err = ibsa__read_file(path, &bytes, &len);

	if (err)
		return ibsa__fail(error, err, "cannot read %.100s: %s", path,
				  strerror(-err));
	mads = (const uint8_t *)bytes;
	if (ibsa__is_tar(mads, len))
		mads = ibsa__tar_find(mads, len, TAR_MADS, &len);
	err = mads ? ibsa__recording_read(path, mads, len, error, out)
		   : ibsa__fail(error, -EINVAL,
				"%.100s is not a report of ibsa doctor, or "
				"not all of one: it lacks the file " TAR_MADS,
				path);
	ibsa__free(bytes);
	return err;
}

/*
 * Make the capture's fabric from a topology that is written as text. The
 * requester may be the port of the SA itself.
 */
static int fabric_make(const struct recording *recording,
		       struct ibsa_fabric_options options,
		       struct ibsa_error *error, struct ibsa_fabric **out)
{
	const struct ibsa_port_state *port = &recording->port;
	const bool is_own = port->lid == port->sm_lid;
	const uint64_t guid = ibsa_be64(port->gid.raw + 8);
	const struct link_rate rate = recording->rate;
	const bool has_rate = rate.width && rate.speed;
	char rate_word[16] = "";
	char text[320];
	int len;

	if (has_rate)
		snprintf(rate_word, sizeof(rate_word), "%ux%s",
			 ibsa__lanes_of_width(rate.width),
			 ibsa__speed_name(rate.speed));
	len = snprintf(text, sizeof(text),
		       "Switch 1 \"" SA_NAME "\" # base port 0 lid %u lmc 0\n"
		       "[1] \"" PORT_NAME "\"[1]\n"
		       "caguid=0x%" PRIx64 "\n"
		       "Ca 1 \"" PORT_NAME "\"\n"
		       "[1](%" PRIx64 ") \"" SA_NAME "\"[1] # lid %u lmc 0 "
		       "\"" SA_NAME "\" lid %u %s\n",
		       is_own ? 0 : port->sm_lid, guid, guid, port->lid,
		       is_own ? 0 : port->sm_lid, rate_word);
	options.sa_node = is_own ? PORT_NAME : SA_NAME;
	options.gid_prefix = ibsa_be64(port->gid.raw);
	return ibsa_fabric_parse(text, (size_t)len, &options, error, out);
}

/*
 * Set the P_Keys: the requester's port has the P_Key of its first request, and
 * the SA's port accepts it.
 */
static int pkeys_set(struct ibsa_fabric *fabric, uint16_t pkey)
{
	const uint16_t full = pkey | IBSA_PKEY_FULL;
	struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_PKEYS,
		.pkeys = &pkey,
		.pkey_count = 1,
	};
	int err;

	if (pkey == IBSA_PKEY_DEFAULT || full == IBSA_PKEY_FULL)
		return 0;
	err = ibsa_fabric_port_set(fabric, PORT_NAME, 1, &change);
	change.pkeys = &full;
	return err ? err : ibsa_fabric_port_set(fabric, SA_NAME, 0, &change);
}

static int replay_make(struct recording *recording,
		       const struct ibsa_fabric_options *options,
		       struct ibsa_error *error, struct ibsa_fabric **out)
{
	struct ibsa_fabric *fabric;
	int err = fabric_make(recording, *options, error, &fabric);

	if (err)
		return err;
	err = pkeys_set(fabric, recording->pkey);
	if (err) {
		ibsa_fabric_put(fabric);
		return ibsa__fail(error, err, "out of memory");
	}
	fabric->recording = recording;
	fabric->first.sa.source = (struct sa_source){ recording_answer,
						      recording };
	*out = fabric;
	return 0;
}

int ibsa__replay_load(const char *path,
		      const struct ibsa_fabric_options *options,
		      struct ibsa_error *error, struct ibsa_fabric **out)
{
	struct recording *recording;
	int err = options_check(path, options, error);

	if (err)
		return err;
	recording = ibsa__calloc(1, sizeof(*recording));
	if (!recording)
		return ibsa__fail(error, -ENOMEM, "out of memory");
	err = recording_load(path, error, recording);
	if (!err)
		err = replay_make(recording, options, error, out);
	if (err)
		ibsa__replay_done(recording);
	return err;
}

void ibsa__replay_done(struct recording *recording)
{
	if (recording)
		ibsa__recording_done(recording);
	ibsa__free(recording);
}

int ibsa_replay_open(const char *path, struct ibsa_error *error,
		     struct ibsa_transport **out)
{
	static const struct ibsa_fabric_options defaults;
	struct ibsa_fabric *fabric;
	int err;

	if (!path)
		return ibsa__fail(error, -EINVAL,
				  "the path of the capture is missing");
	err = ibsa__replay_load(path, &defaults, error, &fabric);
	if (err)
		return err;
	err = ibsa_fabric_attach(fabric, PORT_NAME, 1, out);
	ibsa_fabric_put(fabric);
	return err ? ibsa__fail(error, err, "%.100s: %s", path, strerror(-err))
		   : 0;
}

/*
 * Whether the file is a capture. A pipe or device cannot be a capture, because
 * it can be read only once.
 */
bool ibsa__is_capture(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint8_t start[TAR_BLOCK_BYTES];
	struct pcap pcap;
	large_stat is;
	ssize_t len = -1;

	if (fd < 0)
		return false;
	if (!large_fstat(fd, &is) && S_ISREG(is.st_mode))
		len = read(fd, start, sizeof(start));
	close(fd);
	return len > 0 &&
	       (ibsa__pcap_start(start, (size_t)len, &pcap) != PCAP_NONE ||
		ibsa__is_tar(start, (size_t)len));
}
