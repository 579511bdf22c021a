// SPDX-License-Identifier: GPL-2.0
// Namespaces, templates, lambdas, members inlined into one another, exceptions.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "sample.h"

namespace sample {
namespace {

template <typename T> struct queue {
	std::vector<T> v;
	void push(const T &t)
	{
		if (t < T())
			throw std::string("negative");
		v.push_back(t);
		std::push_heap(v.begin(), v.end());
	}
	T sum() const
	{
		T s = T();
		std::for_each(v.begin(), v.end(), [&s](const T &t) { s += t * 2; });
		return s;
	}
};

} // namespace

struct base {
	virtual ~base() {}
	virtual int run(int n) { return n; }
};

struct derived : base {
	std::map<int, std::string> names;
	int run(int n) override
	{
		names[n] = std::to_string(n);
		return names.size() + header_inline(n);
	}
	static inline __attribute__((always_inline)) int twice(int n) { return n + n; }
};

__attribute__((noinline)) int work(int n)
{
	queue<int> q;
	derived d;
	base *b = &d;

	try {
		for (int i = 0; i < n; i++)
			q.push(i % 7 ? b->run(i) & 0xff : derived::twice(i));
	} catch (const std::string &s) {
		std::printf("%s\n", s.c_str());
	}
	return q.sum();
}

} // namespace sample

int main(int argc, char **argv)
{
	(void)argv;
	return (sample::work(argc * 10) + switched(argc)) & 1;
}
