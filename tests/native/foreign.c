// SPDX-License-Identifier: GPL-2.0
/*
 * foreign FILE TIMES: call the function at the entry of a 32-bit file, again and again
 *
 * The function calls syscall(SYS_getppid). It is 64-bit code, as this program is. Only the file
 * says that it has 32 bits: foreign.S.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDONLY) : -1, i;
	Elf32_Ehdr eh;
	char *mem;

	if (fd < 0 || read(fd, &eh, sizeof(eh)) != sizeof(eh) ||
	    eh.e_ident[EI_CLASS] != ELFCLASS32)
		return 2;
	/* addresses in such a small file are offsets, too */
	mem = mmap(NULL, 65536, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (mem == MAP_FAILED)
		return 2;
	for (i = 0; i < atoi(argv[2]); i++) {
		/* time to look at the file */
		usleep(2000);
		((long (*)(long (*)(long, ...), long))(mem + eh.e_entry))(syscall, SYS_getppid);
	}
	return 0;
}
