// SPDX-License-Identifier: GPL-2.0
/*
 * start ROUNDS PROGRAM [NAME VARIABLE=FILE]...: what does it cost to start a program?
 *
 * Each round executes PROGRAM once without any VARIABLE, and once for each NAME with its VARIABLE,
 * one after the other. From its own environment start passes on only TRACE_USTACK_TABLES. Prints
 * "NAME MICROSECONDS" for "none" and each NAME: the median from vfork() to the end of the program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_KINDS	16

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double time_start(char *program, char **env)
{
	char *argv[] = { program, NULL };
	double start = now_us();
	int status;
	pid_t pid;

	pid = vfork();
	if (!pid) {
		execve(program, argv, env);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "start: %s fails%s%s\n", program, *env ? " with " : "",
			*env ? *env : "");
		exit(1);
	}
	return now_us() - start;
}

int main(int argc, char **argv)
{
	char *tables = getenv("TRACE_USTACK_TABLES"), own[4096];
	const char *name[MAX_KINDS] = { "none" };
	char *env[MAX_KINDS][3] = { { NULL } };
	int kinds = 1, rounds, i, k;
	double *us[MAX_KINDS];

	if (argc < 3 || argc % 2 == 0 || argc > 3 + 2 * (MAX_KINDS - 1))
		return 2;
	rounds = atoi(argv[1]);
	snprintf(own, sizeof(own), "TRACE_USTACK_TABLES=%s", tables ? tables : "");
	for (i = 3; i < argc; i += 2, kinds++) {
		name[kinds] = argv[i];
		env[kinds][0] = argv[i + 1];
		env[kinds][1] = own;
	}
	for (k = 0; k < kinds; k++)
		us[k] = calloc(rounds, sizeof(**us));
	for (i = -20; i < rounds; i++) {
		for (k = 0; k < kinds; k++) {
			double t = time_start(argv[2], env[k]);

			if (i >= 0)
				us[k][i] = t;
		}
	}
	for (k = 0; k < kinds; k++) {
		qsort(us[k], rounds, sizeof(**us), compare);
		printf("%s %.2f\n", name[k], us[k][rounds / 2]);
	}
	return 0;
}
