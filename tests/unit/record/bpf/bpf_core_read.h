/* SPDX-License-Identifier: GPL-2.0 */
/* bpf_core_read.h - in place of libbpf's header: no kernel has the structures of this test */
#ifndef TEST_BPF_CORE_READ_H
#define TEST_BPF_CORE_READ_H

#define READ_FIELD(src, a)		((src)->a)
#define READ_FIELDS(src, a, b)		((src)->a->b)
#define PICK_READ(src, a, b, name, ...)	name
#define BPF_CORE_READ(...)		PICK_READ(__VA_ARGS__, READ_FIELDS, READ_FIELD)(__VA_ARGS__)
#define bpf_core_field_exists(field)	0

#endif
