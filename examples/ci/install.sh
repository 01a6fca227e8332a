# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: install.sh
#
# Builds the packages of the source tree with this file, and installs them, with
# programs that use the fabric, on Debian 12 as root.
set -e
export DEBIAN_FRONTEND=noninteractive DEB_BUILD_OPTIONS=nocheck
build=$(mktemp -d)
cp -r "$(dirname "$0")/../.." "$build/ibsa"
cd "$build/ibsa"
apt-get -q update
apt-get -q -y --no-install-recommends install build-essential fakeroot
apt-get -q -y --no-install-recommends build-dep ./
dpkg-buildpackage -b -us -uc
apt-get -q -y --no-install-recommends install ../ibsa_*.deb ../ibsa-umad_*.deb \
	../libibsa1_*.deb ../libibsa-compat1_*.deb ../libibsa-fabric1_*.deb \
	ibverbs-utils infiniband-diags
cd /
rm -rf "$build"
