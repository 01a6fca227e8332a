/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Print the names of the devices that libibumad finds. */
#include <stdio.h>

#include <infiniband/umad.h>

int main(void)
{
	char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN];
	const int count = umad_get_cas_names(names, UMAD_MAX_DEVICES);

	for (int i = 0; i < count; i++)
		printf("%s\n", names[i]);
	return count < 0;
}
