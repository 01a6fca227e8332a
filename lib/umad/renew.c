/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opens the umad file of a transport again: after a reply that was too large,
 * and when a port that had disappeared exists again.
 */
#include <errno.h>
#include <string.h>

#include "umad/transport.h"

/*
 * Whether an error is a shortage of descriptors or memory, which does not mean
 * that the port has disappeared.
 */
static bool is_shortage(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM ||
	       err == -ENOBUFS || err == -ENOSPC || err == -EAGAIN ||
	       err == -EINTR;
}

/*
 * Whether the error @err means that the port does not exist: it may appear or
 * disappear during a call.
 */
static bool is_absence(int err)
{
	return err == -ENOENT || err == -ENXIO || err == -EIO || err == -EPIPE;
}

void ibsa__umad_shut(struct umad_transport *umad, bool is_gone)
{
	umad->file->ops->shut(umad->file, is_gone);
	umad->is_open = false;
	umad->outstanding = 0;
	umad->expected = UMAD_EXPECTED_ANY;
	umad->held = 0;
	umad->at = 0;
	memset(umad->agents, 0, sizeof(umad->agents));
}

int ibsa__umad_loss(struct umad_transport *umad)
{
	const int err = umad->loss;

	umad->loss = 0;
	return err;
}

int ibsa__umad_lose(struct umad_transport *umad, int err)
{
	const bool is_gone = !is_shortage(err);

	ibsa__umad_shut(umad, is_gone);
	umad->lost = is_gone ? err : -EAGAIN;
	if (!is_gone)
		return -EAGAIN;
	if (!umad->is_gone) {
		umad->loss = err;
		umad->has_changed = true;
	}
	umad->is_gone = true;
	return err;
}

/*
 * The port exists again. The SM may have lost its registrations, so the
 * transport reports a client re-register, as if the SM had requested it.
 */
static void port_came_back(struct umad_transport *umad)
{
	umad->is_gone = false;
	umad->reregisters++;
}

int ibsa__umad_reopen(struct umad_transport *umad)
{
	bool is_other = false;
	int err = umad->file->ops->open(umad->file, &is_other);

	if (!err)
		err = ibsa__umad_up(umad, 0);
	if (err == -EINPROGRESS)
		return umad->lost ? umad->lost : -EAGAIN;
	if (err)
		return ibsa__umad_lose(umad, is_absence(err) ? -ENODEV : err);
	/* A change while no file was open was not reported. */
	umad->has_changed = true;
	if (umad->is_gone || is_other)
		port_came_back(umad);
	return 0;
}

int ibsa__umad_send_error(struct umad_transport *umad, int err)
{
	switch (err) {
	case -EINVAL:
		/*
		 * EINVAL has two causes here: an earlier MAD with this
		 * transaction id waits for its answer, or the file cannot send
		 * to the address, for example because the port requires a GRH.
		 * The engine distinguishes them.
		 */
		return -EALREADY;
	case -EIO:
	case -EPIPE:
	case -ENODEV:
		return ibsa__umad_lose(umad, -ENODEV);
	default:
		return err;
	}
}
