/* SPDX-License-Identifier: GPL-2.0 */
/* stepped.h - shared by the parts of the program that is stepped through */
#ifndef STEPPED_H
#define STEPPED_H

#define NOINLINE __attribute__((noinline, noclone))

#ifdef __cplusplus
extern "C" {
#endif

extern volatile int sink;

/* frames of a few kinds: calls itself @n times, then @leaf */
void deep(int n, void (*leaf)(void));

void throw_once(void);
void throw_and_catch(void);
void library(const char *self);

#ifdef __cplusplus
}
#endif

#endif
