// SPDX-License-Identifier: GPL-2.0
// C++: landing pads, cold parts of functions, thunks, a main for sample.c
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" int entry_c(int argc);

struct base {
	virtual ~base() = default;
	virtual int f(int) const = 0;
};

struct other {
	virtual ~other() = default;
	virtual int g(int n) const { return n; }
	long x = 1;
};

struct derived : other, base {
	std::string s = "derived";
	int f(int n) const override
	{
		if (n > 5)
			throw std::runtime_error(s + std::to_string(n));
		return n + g(n);
	}
};

template <typename T>
static int walk(const std::vector<T> &v, const std::function<int(const T &)> &fn)
{
	int sum = 0;

	for (const auto &e : v) {
		std::string t = std::to_string(sum);

		try {
			sum += fn(e) + t.size();
		} catch (const std::out_of_range &) {
			sum++;
		}
	}
	return sum;
}

int main(int argc, char **)
{
	std::unique_ptr<base> b = std::make_unique<derived>();
	std::map<int, std::string> m;
	std::vector<int> v = { 1, 2, 9, argc };

	try {
		m[argc] = std::to_string(entry_c(argc));
		return walk<int>(v, [&](const int &n) {
			return b->f(n) + m.at(n).size(); }) == 12345;
	} catch (const std::exception &e) {
		return m.size() + e.what()[0] == 12345;
	}
}
