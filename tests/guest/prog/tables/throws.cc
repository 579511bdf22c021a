// SPDX-License-Identifier: GPL-2.0
/*
 * throws N: N exceptions through frames with destructors. There are system calls before the throw,
 * in the destructors that run during unwinding, in the handler, and after it.
 */
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include "deep.h"

struct guard {
	std::string name;
	DEEP guard(const char *n) : name(n) { }
	DEEP ~guard()
	{
		syscall(SYS_getppid);
		KEEP(&name);
	}
};

static int DEEP thrower(int n)
{
	guard g("a name that does not fit into the object itself");

	syscall(SYS_getuid);
	if (n >= 0)
		throw std::runtime_error("thrown " + std::to_string(n));
	return n;
}

static int DEEP passes(int n)
{
	std::vector<guard> guards;

	guards.emplace_back("one");
	return thrower(n) + 1;
}

static int DEEP catcher(int n)
{
	int ret = 0;

	try {
		ret = passes(n);
	} catch (const std::exception &e) {
		syscall(SYS_getgid);
		ret = e.what()[0];
	}
	syscall(SYS_geteuid);
	KEEP(&ret);
	return ret;
}

int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 1, sum = 0;

	for (i = 0; i < n; i++)
		sum += catcher(i);
	return sum == 0;
}
