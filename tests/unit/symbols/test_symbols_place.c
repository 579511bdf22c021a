// SPDX-License-Identifier: GPL-2.0
/*
 * test_symbols_place.c - finds files that are not at their recorded path
 *
 * A file may be in the root directory of a process, at another path, in a directory by build ID, or
 * on a server. Nothing may go to the network unless the user asks for it.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "debug_place.h"

static uint8_t id[32];
static size_t id_size;

static int group_setup(void **state)
{
	if (build_place(state))
		return -1;
	sh("gcc -O1 -g -Wl,--build-id -o other p.c");
	id_size = id_of("full", id);
	return 0;
}

static int ask(const char *path, int pid, bool with_id)
{
	struct uu_file f = { .path = path, .pid = pid };
	struct uu_symbol s;
	int ret;

	if (with_id) {
		f.build_id = id;
		f.build_id_size = id_size;
	}
	ret = uu_symbols_find(syms, &f, in_hidden, &s);
	if (!ret)
		assert_string_equal(s.name, "hidden");
	return ret;
}

/* A process with place/root as its root directory; 0: that is not possible here. */
static pid_t container(void)
{
	int ready[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if ((geteuid() && unshare(CLONE_NEWUSER)) || chroot(in_place("root")))
			_exit(1);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		alarm(60);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1) {
		waitpid(pid, NULL, 0);
		pid = 0;
	}
	close(ready[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void a_containers_file_is_found_while_it_lives(void **state)
{
	pid_t pid;

	(void)state;
	/* an absolute link means a place in the container */
	sh("mkdir -p root/opt/in root/tmp && cp full root/opt/in/app && "
	   "ln -s /opt/in/app root/opt/link && cp other root/opt/other && "
	   "ln -s %s/full root/opt/out", place);
	pid = container();
	if (!pid)
		skip();
	assert_int_equal(ask("/opt/in/app", 0, true), -ENODEV);
	/* the earlier answer does not stay if a process can be asked */
	assert_int_equal(ask("/opt/in/app", pid, true), 0);
	/* from now on, the file is known without the process */
	assert_int_equal(ask("/opt/in/app", 0, true), 0);
	begin();
	assert_int_equal(ask("/opt/link", pid, true), 0);
	/* a link that leads out of the root leads nowhere */
	begin();
	assert_int_equal(ask("/opt/out", pid, true), -ENODEV);
	assert_int_equal(ask("/opt/other", pid, true), -ESTALE);
	/* without a build ID, the PID may be another process's by now */
	begin();
	assert_int_equal(ask("/opt/in/app", pid, false), -ENODEV);
	assert_int_equal(ask("/opt/in/app", pid, false), -ENODEV);
	/* its JIT code, by its PID in the container */
	sh("echo '1000 10 inside' >root/tmp/perf-%d.map", pid);
	{
		struct uu_symbol s;

		assert_int_equal(uu_symbols_find_jit(syms, pid, 0x1008, &s), 0);
		assert_string_equal(s.name, "inside");
	}
	end(pid);
	begin();
	assert_int_equal(ask("/opt/in/app", pid, true), -ENODEV);
}

static void another_path_with_the_same_build_id_serves_later(void **state)
{
	(void)state;
	assert_int_equal(ask("/opt/in/app", 0, true), -ENODEV);
	begin();
	assert_int_equal(ask(in_place("full"), 0, false), 0);
	assert_int_equal(ask("/opt/in/app", 0, true), 0);
	/* what was replaced is not taken, and is found elsewhere */
	assert_int_equal(ask(in_place("other"), 0, true), 0);
	begin();
	assert_int_equal(ask(in_place("other"), 0, true), -ESTALE);
}

static void a_file_is_found_by_build_id_where_debug_files_are(void **state)
{
	const char *text = id_text("full");

	(void)state;
	sh("mkdir -p debug/.build-id/%.2s && cp full debug/.build-id/%.2s/%s", text, text,
	   text + 2);
	assert_int_equal(ask("/opt/in/app", 0, true), 0);
	sh("cp other debug/.build-id/%.2s/%s", text, text + 2);
	begin();
	assert_int_equal(ask("/opt/in/app", 0, true), -ESTALE);
}

static void a_sysroot_is_a_root(void **state)
{
	(void)state;
	sh("mkdir -p root/opt root/usr/lib/debug && cp full root/opt/app && "
	   "ln -s /opt/app root/opt/link && ln -s %s/full root/opt/out", place);
	opts.sysroot = in_place("root");
	begin();
	assert_int_equal(ask("/opt/app", 0, true), 0);
	assert_int_equal(ask("/opt/link", 0, false), 0);
	assert_int_equal(ask("/opt/out", 0, false), -ENODEV);
	assert_int_equal(ask("/../opt/app", 0, false), 0);
	opts.sysroot = NULL;
}

/* ------------------------------- servers -------------------------------- */

static int listening;

/* Listen on a port of 127.0.0.1, which DEBUGINFOD_URLS names. */
static void serve(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	char url[64];

	listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(listening >= 0);
	assert_int_equal(bind(listening, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(listening, 16), 0);
	assert_int_equal(getsockname(listening, (struct sockaddr *)&a, &len), 0);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/", ntohs(a.sin_port));
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("DEBUGINFOD_CACHE_PATH", in_place("cache"), 1);
	/* the option counts, even if the environment allows more */
	setenv("DEBUGINFOD_TIMEOUT", "60", 1);
	unsetenv("http_proxy");
}

static void no_server(void)
{
	close(listening);
	unsetenv("DEBUGINFOD_URLS");
	sh("rm -rf cache");
}

static bool was_asked(void)
{
	struct pollfd p = { .fd = listening, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

/* Is there a network with 127.0.0.1? A sandbox may have none. */
static bool have_network(void)
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool ok;

	assert_true(fd >= 0);
	assert_int_equal(getsockname(listening, (struct sockaddr *)&a, &len), 0);
	ok = !connect(fd, (struct sockaddr *)&a, sizeof(a));
	if (!ok)
		print_message("skipped: 127.0.0.1 cannot be reached: %s\n", strerror(errno));
	close(fd);
	if (ok)
		close(accept(listening, NULL, NULL));
	return ok;
}

static void serve_or_skip(void)
{
	if (!dlopen("libdebuginfod.so.1", RTLD_NOW)) {
		print_message("skipped: libdebuginfod is not installed\n");
		skip();
	}
	serve();
	if (!have_network()) {
		no_server();
		skip();
	}
}

static size_t frames(void)
{
	struct uu_file f = { .path = in_place("stripped") };
	const struct uu_frame *fr;
	size_t nr = 0;

	uu_symbols_lines(syms, &f, in_hidden, &fr, &nr);
	return nr;
}

static void the_environment_alone_sends_nothing_to_a_server(void **state)
{
	(void)state;
	serve();
	assert_int_equal(ask("/opt/in/app", 0, true), -ENODEV);
	assert_int_equal(frames(), 0);
	assert_false(was_asked());
	no_server();
}

static void a_server_that_does_not_answer_costs_what_was_allowed(void **state)
{
	struct timespec a, b;
	double s;

	(void)state;
	serve_or_skip();
	opts.debuginfod_ms = 300;
	begin();
	clock_gettime(CLOCK_MONOTONIC, &a);
	assert_int_equal(ask("/opt/in/app", 0, true), -ENODEV);
	/* a second question has no time left */
	assert_int_equal(frames(), 0);
	clock_gettime(CLOCK_MONOTONIC, &b);
	assert_true(was_asked());
	s = b.tv_sec - a.tv_sec + (b.tv_nsec - a.tv_nsec) / 1e9;
	/* curl is asked about once a second; the environment's 60 s are far away */
	if (s > 40)
		fail_msg("%.1f s", s);
	no_server();
}

/* Answer each request with @file; the last one too. */
static pid_t answer(const char *file)
{
	static char buf[65536];
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	alarm(60);
	for (;;) {
		int c = accept(listening, NULL, NULL), fd = open(in_place(file), O_RDONLY);
		ssize_t n = read(c, buf, sizeof(buf)), size = lseek(fd, 0, SEEK_END);

		dprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %zd\r\nConnection: close\r\n\r\n",
			size);
		lseek(fd, 0, SEEK_SET);
		while ((n = read(fd, buf, sizeof(buf))) > 0)
			if (write(c, buf, n) != n)
				break;
		shutdown(c, SHUT_WR);
		close(c);
		close(fd);
	}
}

static void a_file_from_a_server_is_used_if_its_build_id_matches(void **state)
{
	struct uu_file f = { .path = in_place("stripped") };
	struct uu_debug_info info;
	pid_t pid;

	(void)state;
	serve_or_skip();
	pid = answer("full.debug");
	opts.debuginfod_ms = 20000;
	begin();
	assert_int_equal(frames(), 2);
	assert_int_equal(uu_symbols_debug_info(syms, &f, &info), 0);
	assert_int_equal(info.kind, UU_DEBUG_SERVER);
	end(pid);
	no_server();
	/* another file than it was asked for */
	serve();
	pid = answer("other");
	begin();
	assert_int_equal(frames(), 0);
	end(pid);
	no_server();
	/* a program that is gone */
	serve();
	pid = answer("full");
	begin();
	assert_int_equal(ask("/opt/in/app", 0, true), 0);
	end(pid);
	no_server();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_containers_file_is_found_while_it_lives),
		T(another_path_with_the_same_build_id_serves_later),
		T(a_file_is_found_by_build_id_where_debug_files_are),
		T(a_sysroot_is_a_root),
		T(the_environment_alone_sends_nothing_to_a_server),
		T(a_server_that_does_not_answer_costs_what_was_allowed),
		T(a_file_from_a_server_is_used_if_its_build_id_matches),
	};

	return cmocka_run_group_tests_name("symbols_place", tests, group_setup, remove_place);
}
