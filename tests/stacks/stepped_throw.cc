// SPDX-License-Identifier: GPL-2.0
/* Exceptions through several frames that clean up, and that throw the exception again. */
#include <exception>
#include <stdexcept>

#include "stepped.h"

namespace {

struct Cleanup {
	int n;
	explicit Cleanup(int i) : n(i) {}
	NOINLINE ~Cleanup() { sink += n; }
};

NOINLINE void thrower(int n)
{
	if (n == 1)
		throw n;
	throw std::runtime_error("stepped");
}

NOINLINE void through(int depth, int n)
{
	Cleanup c(depth);

	if (depth)
		through(depth - 1, n);
	else
		thrower(n);
}

NOINLINE void rethrow(int n)
{
	try {
		through(3, n);
	} catch (const std::exception &) {
		sink++;
		throw;
	}
}

} // namespace

extern "C" void throw_once(void)
{
	try {
		through(1, 1);
	} catch (int n) {
		sink += n;
	}
}

extern "C" void throw_and_catch(void)
{
	try {
		rethrow(2);
	} catch (const std::runtime_error &e) {
		sink += e.what()[0];
	}
}
