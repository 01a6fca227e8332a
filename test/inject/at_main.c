/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A preload that makes a special system call just before main(), by which
 * inject.py separates the program's calls from the dynamic linker's.
 */
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef int (*main_fn)(int argc, char **argv, char **envp);
typedef int (*start_fn)(main_fn program, int argc, char **argv,
			void (*init)(void), void (*done)(void),
			void (*linker_done)(void), void *stack_end);

int __libc_start_main(main_fn program, int argc, char **argv,
		      void (*init)(void), void (*done)(void),
		      void (*linker_done)(void), void *stack_end);

static main_fn program_main;

static int marked_main(int argc, char **argv, char **envp)
{
	enum { INJECT_MARK = 0x1b5a }; /* an invalid "which": EINVAL */

	syscall(SYS_getpriority, INJECT_MARK, 0);
	return program_main(argc, argv, envp);
}

int __libc_start_main(main_fn program, int argc, char **argv,
		      void (*init)(void), void (*done)(void),
		      void (*linker_done)(void), void *stack_end)
{
	start_fn start;

	*(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
	program_main = program;
	return start(marked_main, argc, argv, init, done, linker_done,
		     stack_end);
}
