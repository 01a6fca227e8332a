/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A program to be linked statically. */
int main(void)
{
	return 0;
}
