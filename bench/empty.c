/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The lower bound of B19: a dynamically linked program that does nothing. */
int main(void)
{
	return 0;
}
