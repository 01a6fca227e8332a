/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads a library of ibsa that is installed beside another one. */
#ifndef COMMON_LIBRARY_H
#define COMMON_LIBRARY_H

/*
 * Load the library with the soname @name from the folder of the library that
 * contains the object at @address, or else from where the system finds it.
 * Return: the library; NULL, and dlerror() returns the reason.
 */
void *ibsa__library_load(const char *name, const void *address);

#endif
