// SPDX-License-Identifier: GPL-2.0
/*
 * libs.c - the libraries that an ELF file names
 *
 * The dynamic loader could list them, but it runs code that the file chooses (PT_INTERP, DT_AUDIT),
 * here as root. So this reads the names, and searches them as the loaders of glibc and musl do. A
 * library too many, or of another version, does no harm: it has a table that is not used.
 *
 * The root is that of the process, which may be a container's. Its files are hostile input: only
 * regular files of local file systems are opened, and all that is read is limited.
 *
 * Sources: System V ABI, chapter 5; ld.so(8); glibc's sysdeps/generic/dl-cache.h.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "impl.h"
#include "libunwind-user/base/base.h"

#define MAX_NAMES	512
#define MAX_NAME	256		/* with its zero */
#define MAX_DIRS	256
#define MAX_LIST	4096		/* DT_RUNPATH */
#define MAX_DYNAMIC	(64u << 10)
#define MAX_PHDRS	64

/* /etc/ld.so.cache: header, entries, strings; offsets count from its magic */
#define CACHE		"/etc/ld.so.cache"
#define CACHE_MAGIC	"glibc-ld.so.cache1.1"
#define CACHE_NR_OFF	20
#define CACHE_HEADER	48
#define CACHE_ENTRY	24
#define CACHE_KEY_OFF	4
#define CACHE_VALUE_OFF	8
#define CACHE_MAX	(16u << 20)
#define CACHE_MAX_NR	65536
#define CACHE_MAX_TRIED	8		/* entries of one name */

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC	0x58465342
#endif

static const char *const default_dirs[] = {
	"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu",
	"/usr/lib/aarch64-linux-gnu", "/lib/s390x-linux-gnu", "/usr/lib/s390x-linux-gnu",
	"/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib", "/lib/i386-linux-gnu",
	"/usr/lib/i386-linux-gnu", "/lib32", "/usr/lib32",
};

struct search {
	int root;
	unsigned char class;		/* of the program, and so of its libraries */
	uint16_t machine;
	char *cache;			/* from its magic on */
	size_t cache_size;
	void *cache_memory;
	char *name[MAX_NAMES], *dir[MAX_DIRS];
	size_t nr_names, nr_dirs;
	const struct libs_calls *calls;
	bool time_over;			/* calls->more() said that there is no more time */
};

static bool is_time_over(struct search *s)
{
	if (!s->time_over)
		s->time_over = !s->calls->more(s->calls->ctx);
	return s->time_over;
}

/* --------------------------------- files --------------------------------- */

bool libs_is_local(int fd)
{
	static const unsigned long local[] = {
		BTRFS_SUPER_MAGIC, EXT4_SUPER_MAGIC, F2FS_SUPER_MAGIC, ISOFS_SUPER_MAGIC,
		RAMFS_MAGIC, SQUASHFS_MAGIC, TMPFS_MAGIC, XFS_SUPER_MAGIC,
	};
	struct statfs fs;
	size_t i;

	if (fstatfs(fd, &fs))
		return false;
	for (i = 0; i < ARRAY_SIZE(local); i++)
		if ((unsigned long)fs.f_type == local[i])
			return true;
	return false;
}

/*
 * Open a regular file below the root of the process; no link leads out of it. Opening a device can
 * have effects, so the file is looked at first.
 */
static int open_below(struct search *s, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_XDEV,
	};
	int at, fd = -1;
	struct stat st;
	char name[32];

	if (is_time_over(s))
		return -1;
	at = syscall(SYS_openat2, s->root, path, &how, sizeof(how));
	if (at < 0 && errno == EXDEV) {
		/* The path may cross another local file system, but no server and no automount */
		how.resolve = RESOLVE_IN_ROOT | RESOLVE_CACHED;
		at = syscall(SYS_openat2, s->root, path, &how, sizeof(how));
	}
	if (at < 0)
		return -1;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", at);
	if (!fstat(at, &st) && S_ISREG(st.st_mode) && libs_is_local(at))
		fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	close(at);
	return fd;
}

ssize_t libs_read(int fd, void *buf, size_t len, off_t at)
{
	ssize_t n = pread(fd, buf, len, at);

	return n < 0 ? 0 : n;
}

bool libs_read_ehdr(int fd, Elf64_Ehdr *eh)
{
	Elf32_Ehdr head;

	if (libs_read(fd, &head, sizeof(head), 0) != sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG))
		return false;
	if (head.e_ident[EI_CLASS] == ELFCLASS64)
		return libs_read(fd, eh, sizeof(*eh), 0) == sizeof(*eh);
	elf32_ehdr(&head, eh);
	return true;
}

bool libs_read_phdr(int fd, const Elf64_Ehdr *eh, unsigned int i, Elf64_Phdr *ph)
{
	Elf32_Phdr head;

	if (eh->e_ident[EI_CLASS] == ELFCLASS64)
		return libs_read(fd, ph, sizeof(*ph), eh->e_phoff + i * sizeof(*ph)) == sizeof(*ph);
	if (libs_read(fd, &head, sizeof(head), eh->e_phoff + i * sizeof(head)) != sizeof(head))
		return false;
	elf32_phdr(&head, ph);
	return true;
}

static void read_cache(struct search *s)
{
	int fd = open_below(s, CACHE);
	struct stat st;
	ssize_t n = 0;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_size <= CACHE_MAX)
		s->cache_memory = malloc(st.st_size + 1);
	if (s->cache_memory)
		n = libs_read(fd, s->cache_memory, st.st_size, 0);
	close(fd);
	if (n <= 0)
		return;
	((char *)s->cache_memory)[n] = '\0';
	/* an older format may precede it */
	s->cache = memmem(s->cache_memory, n, CACHE_MAGIC, strlen(CACHE_MAGIC));
	if (s->cache)
		s->cache_size = n - (s->cache - (char *)s->cache_memory);
}

static uint32_t read_cache_u32(const struct search *s, size_t at)
{
	uint32_t v;

	memcpy(&v, s->cache + at, sizeof(v));
	return v;
}

/* --------------------------- names of libraries -------------------------- */

static void add_name(struct search *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->nr_names; i++)
		if (!strcmp(s->name[i], name))
			return;
	if (i == MAX_NAMES || !*name)
		return;
	s->name[i] = strdup(name);
	s->nr_names += s->name[i] != NULL;
}

/* Takes @dir. */
static void add_dir(struct search *s, char *dir)
{
	size_t i;

	for (i = 0; i < s->nr_dirs && strcmp(s->dir[i], dir); i++)
		;
	if (i < s->nr_dirs)
		free(dir);
	else
		s->dir[s->nr_dirs++] = dir;
}

/* Add the directories of a list as DT_RUNPATH; @origin: the directory of the file that has it */
static void add_dirs(struct search *s, const char *list, const char *origin)
{
	static const char *const forms[] = { "$ORIGIN", "${ORIGIN}" };
	const char *at, *from, *end;
	size_t i, skip;
	char *dir;

	for (at = list; *at && s->nr_dirs < MAX_DIRS; at = *end ? end + 1 : end) {
		end = strchrnul(at, ':');
		for (i = 0, skip = 0, from = ""; i < ARRAY_SIZE(forms); i++) {
			if (!strncmp(at, forms[i], strlen(forms[i]))) {
				skip = strlen(forms[i]);
				from = origin;
			}
		}
		if (asprintf(&dir, "%s%.*s", from, (int)(end - at - skip), at + skip) < 0)
			return;
		add_dir(s, dir);
	}
}

/* The header, if it is an ELF file in the byte order of this machine */
static bool read_header(int fd, Elf64_Ehdr *eh)
{
	const uint16_t one = 1;

	return libs_read_ehdr(fd, eh) &&
	       eh->e_ident[EI_DATA] == (*(const char *)&one ? ELFDATA2LSB : ELFDATA2MSB);
}

static Elf64_Dyn get_dyn(const void *dynamic, unsigned char class, size_t i)
{
	Elf64_Dyn dyn;
	Elf32_Dyn dyn32;

	if (class == ELFCLASS64) {
		memcpy(&dyn, (const Elf64_Dyn *)dynamic + i, sizeof(dyn));
		return dyn;
	}
	memcpy(&dyn32, (const Elf32_Dyn *)dynamic + i, sizeof(dyn32));
	return (Elf64_Dyn){ .d_tag = dyn32.d_tag, .d_un.d_val = dyn32.d_un.d_val };
}

/* Copy the text at address @addr of the file, if all of it fits. */
static bool read_text(int fd, const Elf64_Ehdr *eh, uint64_t addr, char *text, size_t size)
{
	Elf64_Phdr ph;
	unsigned int i;
	uint64_t at;

	for (i = 0; i < eh->e_phnum && i < MAX_PHDRS && libs_read_phdr(fd, eh, i, &ph); i++) {
		at = addr - ph.p_vaddr;
		if (ph.p_type == PT_LOAD && at < ph.p_filesz)
			return memchr(text, '\0', libs_read(fd, text, size, ph.p_offset + at));
	}
	return false;
}

static void add_texts(struct search *s, int fd, const Elf64_Ehdr *eh, const void *dynamic,
		      size_t nr, const char *origin)
{
	char text[MAX_LIST];
	uint64_t strings = 0;
	Elf64_Dyn dyn;
	size_t i;

	for (i = 0; i < nr; i++) {
		dyn = get_dyn(dynamic, s->class, i);
		if (dyn.d_tag == DT_STRTAB)
			strings = dyn.d_un.d_val;
	}
	for (i = 0; i < nr && !is_time_over(s); i++) {
		dyn = get_dyn(dynamic, s->class, i);
		if (dyn.d_tag == DT_NULL)
			return;
		if (dyn.d_tag == DT_NEEDED &&
		    read_text(fd, eh, strings + dyn.d_un.d_val, text, MAX_NAME))
			add_name(s, text);
		else if ((dyn.d_tag == DT_RUNPATH || dyn.d_tag == DT_RPATH) &&
			 read_text(fd, eh, strings + dyn.d_un.d_val, text, MAX_LIST))
			add_dirs(s, text, origin);
	}
}

static void read_dynamic(struct search *s, int fd, const Elf64_Ehdr *eh, const char *path)
{
	size_t entry = s->class == ELFCLASS64 ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
	char *origin = strndup(path, strrchr(path, '/') ? strrchr(path, '/') - path : 0);
	void *dynamic = malloc(MAX_DYNAMIC);
	Elf64_Phdr ph;
	unsigned int i;
	ssize_t n;

	for (i = 0; origin && dynamic && i < eh->e_phnum && i < MAX_PHDRS; i++) {
		if (!libs_read_phdr(fd, eh, i, &ph))
			break;
		if (ph.p_type != PT_DYNAMIC)
			continue;
		n = libs_read(fd, dynamic, ph.p_filesz < MAX_DYNAMIC ? ph.p_filesz : MAX_DYNAMIC,
			      ph.p_offset);
		add_texts(s, fd, eh, dynamic, n / entry, origin);
		break;
	}
	free(dynamic);
	free(origin);
}

/* ------------------------------ the libraries ----------------------------- */

/* Is it a library for the program? Then pass it on. */
static bool try_path(struct search *s, const char *path)
{
	int fd = open_below(s, path);
	Elf64_Ehdr eh;
	bool found;

	if (fd < 0)
		return false;
	found = read_header(fd, &eh) && eh.e_ident[EI_CLASS] == s->class &&
		eh.e_machine == s->machine;
	if (found) {
		s->calls->add(s->calls->ctx, fd, path);
		read_dynamic(s, fd, &eh, path);
	}
	close(fd);
	return found;
}

static bool try_dir(struct search *s, const char *dir, const char *name)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s", dir, name) < (int)sizeof(path) &&
	       try_path(s, path);
}

static bool try_cache(struct search *s, const char *name)
{
	size_t at = CACHE_HEADER;
	uint32_t i, nr, key, value, tried = 0;
	bool found = false;

	if (s->cache_size < CACHE_HEADER)
		return false;
	nr = read_cache_u32(s, CACHE_NR_OFF);
	for (i = 0; i < nr && i < CACHE_MAX_NR && at + CACHE_ENTRY <= s->cache_size;
	     i++, at += CACHE_ENTRY) {
		key = read_cache_u32(s, at + CACHE_KEY_OFF);
		value = read_cache_u32(s, at + CACHE_VALUE_OFF);
		if (!(i % 256) && is_time_over(s))
			break;
		/* the text ends with a zero */
		if (key >= s->cache_size || value >= s->cache_size ||
		    strncmp(s->cache + key, name, MAX_NAME))
			continue;
		/* Several files can have the name; one of them is for this processor */
		found |= try_path(s, s->cache + value);
		if (++tried == CACHE_MAX_TRIED)
			break;
	}
	return found;
}

static void find_library(struct search *s, const char *name)
{
	size_t i;

	if (strchr(name, '/')) {
		try_path(s, name);
		return;
	}
	for (i = 0; i < s->nr_dirs; i++)
		if (try_dir(s, s->dir[i], name))
			return;
	if (try_cache(s, name))
		return;
	for (i = 0; i < ARRAY_SIZE(default_dirs); i++)
		if (try_dir(s, default_dirs[i], name))
			return;
}

bool libs_for_each(int fd, const char *path, int root, const struct libs_calls *calls)
{
	struct search s = { .root = root, .calls = calls };
	Elf64_Ehdr eh;
	size_t i;

	if (!read_header(fd, &eh))
		return true;
	s.class = eh.e_ident[EI_CLASS];
	s.machine = eh.e_machine;
	read_dynamic(&s, fd, &eh, path);
	if (s.nr_names)
		read_cache(&s);
	/* libraries add the names of others */
	for (i = 0; i < s.nr_names && !s.time_over; i++)
		find_library(&s, s.name[i]);
	for (i = 0; i < s.nr_names; i++)
		free(s.name[i]);
	for (i = 0; i < s.nr_dirs; i++)
		free(s.dir[i]);
	free(s.cache_memory);
	return !s.time_over;
}
