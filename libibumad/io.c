/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umad_send(), umad_recv() and umad_poll().
 *
 * Source: umad_send(3), umad_recv(3), umad_poll(3) of rdma-core.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>

#include <infiniband/umad.h>

#include "base/clock.h"
#include "libibumad/file.h"
#include "libibumad/debug.h"

/* Maximum pause in ms after the connection to a fabric server has failed. */
enum { PAUSE_MS = 100 };

/*
 * Send a packet. The beginning of this function is a cancellation point, as in
 * write().
 */
static int packet_send(int portid, const void *packet, size_t len)
{
	struct portid_use use;
	int err;

	pthread_testcancel();
	ibsa__portid_get(portid, &use);
	err = use.file->ops->send(use.file, packet, len);
	ibsa__portid_put(&use);
	return err;
}

/*
 * Receive a packet. The beginning of this function is a cancellation point, as
 * in read(). *@out_is_device: the file is a device file, not a fabric
 * server's.
 */
static ssize_t packet_receive(int portid, void *packet, size_t room,
			      bool *out_is_device)
{
	struct umad_buffer buffer = { .bytes = packet, .room = room };
	struct portid_use use;
	int got;

	pthread_testcancel();
	ibsa__portid_get(portid, &use);
	got = use.file->ops->receive(use.file, &buffer, 1);
	*out_is_device = !use.slot;
	ibsa__portid_put(&use);
	return got < 0 ? got : (ssize_t)buffer.len;
}

int umad_send(int portid, int agentid, void *umad, int length, int timeout_ms,
	      int retries)
{
	struct ib_user_mad *packet = umad;
	int err = -EINVAL;

	packet->timeout_ms = (uint32_t)timeout_ms;
	packet->retries = (uint32_t)retries;
	packet->agent_id = (uint32_t)agentid;
	ibsa__umad_debug_packet(packet);
	if (length >= 0)
		err = packet_send(portid, packet,
				  UMAD_HEADER_BYTES + (size_t)length);
	errno = -err;
	if (!err)
		return 0;
	ibsa__umad_debug_print(err,
			       "umad_send failed: portid %d agent %d length %d",
			       portid, agentid, length);
	return -EIO;
}

/*
 * Set the results of a receive call. If the caller's buffer was too small, the
 * packet's header contains the required length.
 */
static int receive_result(struct ib_user_mad *packet, ssize_t len, int *length)
{
	if (len == -ENOSPC && packet->length > UMAD_HEADER_BYTES)
		*length = (int)(packet->length - UMAD_HEADER_BYTES);
	if (len < 0)
		return (int)len;
	/*
	 * Every packet has at least a header: a shorter result means that the
	 * file is not a MAD device, or that the device was removed.
	 */
	if (len < UMAD_HEADER_BYTES)
		return -EIO;
	*length = (int)(len - UMAD_HEADER_BYTES);
	return (int)packet->agent_id;
}

/*
 * Pause after a receive error of a fabric server, which may end at any time.
 * OpenSM calls umad_recv() again at once and logs each failure; without the
 * pause it would load a processor and fill a disk. For a device file the error
 * is returned at once, as libibumad does.
 */
static void failure_pause(int timeout_ms)
{
	if (timeout_ms < 0 || timeout_ms > PAUSE_MS)
		timeout_ms = PAUSE_MS;
	(void)poll(NULL, 0, timeout_ms);
}

/*
 * Wait for a packet and receive it. If another thread receives the packet
 * first, wait for the next one.
 */
static ssize_t packet_await(int portid, void *packet, size_t room,
			    int timeout_ms)
{
	const uint64_t start_ns = timeout_ms > 0 ? clock_now_ns() : 0;
	bool is_device = true;
	int left = timeout_ms;
	ssize_t len;

	do {
		int err = ibsa__portid_poll(portid, left);

		if (err)
			return err;
		len = packet_receive(portid, packet, room, &is_device);
		if (len >= 0)
			return len;
		left = ibsa__clock_left_ms(timeout_ms, start_ns);
	} while (len == -EAGAIN && left);
	if (len == -EIO && !is_device)
		failure_pause(left);
	return len == -EAGAIN ? -ETIMEDOUT : len;
}

int umad_recv(int portid, void *umad, int *length, int timeout_ms)
{
	int result = -EINVAL;

	if (umad && length && *length >= 0) {
		size_t room = UMAD_HEADER_BYTES + (size_t)*length;
		bool is_device;
		ssize_t len;

		len = timeout_ms
			      ? packet_await(portid, umad, room, timeout_ms)
			      : packet_receive(portid, umad, room, &is_device);
		result = receive_result(umad, len, length);
	}
	errno = result < 0 ? -result : 0;
	if (result < 0 && result != -EAGAIN && result != -ETIMEDOUT)
		ibsa__umad_debug_print(result, "umad_recv failed: portid %d",
				       portid);
	if (result >= 0)
		ibsa__umad_debug_packet(umad);
	/*
	 * If a signal interrupts the call, the return value is -EIO and only
	 * errno is EINTR.
	 */
	return result == -EINTR ? -EIO : result;
}

int umad_poll(int portid, int timeout_ms)
{
	const uint64_t start_ns = timeout_ms > 0 ? clock_now_ns() : 0;
	bool is_idle;
	int err;

	do {
		err = ibsa__portid_poll(portid, ibsa__clock_left_ms(timeout_ms,
								    start_ns));
		is_idle = !err && ibsa__portid_is_idle(portid);
	} while (is_idle && ibsa__clock_left_ms(timeout_ms, start_ns));
	if (is_idle)
		err = -ETIMEDOUT;
	if (!err)
		return 0;
	errno = -err;
	return err == -ETIMEDOUT ? err : -EIO;
}
