// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * image.c - the ELF file or image that a table is made for
 *
 * The section headers of a file say where .eh_frame and the PLTs are. Section headers are not
 * mapped, and may have been stripped. PT_GNU_EH_FRAME is then the other way to .eh_frame. The
 * generator looks at code here and there, in ascending order, so it reads code through a window
 * that moves forward.
 *
 * Linkers of some architectures put headers and read-only data into the code segment (s390x;
 * elsewhere with -z noseparate-code). Sections with SHF_EXECINSTR separate code from data. All of
 * the segment counts as code if the file has no sections, no sections with code, more sections than
 * any real file has, or overlapping sections. The same holds if an FDE is for an address outside
 * the sections.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rows.h"

#define MAX_PHDRS	512
#define MAX_NAMES	(16u << 20)

static int pread_all(int fd, uint64_t off, void *to, size_t len)
{
	int ret = fd_pread_all(fd, to, len, off);

	return ret == -ENODATA ? -EFAULT : ret;
}

/* Read by offset in the file. In memory, this works near the header only. */
static int read_file(struct image *img, uint64_t off, void *to, size_t len)
{
	if (img->fd >= 0)
		return pread_all(img->fd, off, to, len);
	return img->read(img->ctx, img->addr + off, to, len);
}

int image_read_list(struct image *img, uint64_t off, void *to, size_t len)
{
	return read_file(img, off, to, len);
}

static const struct image_load *find_load(const struct image *img, uint64_t start, uint64_t end)
{
	const struct image_load *l;

	for (l = img->load; l < img->load + img->nr_loads; l++) {
		if (start >= l->vaddr && end >= start && end - l->vaddr <= l->size)
			return l;
	}
	return NULL;
}

int image_read(struct image *img, uint64_t vaddr, void *to, size_t len)
{
	const struct image_load *l = find_load(img, vaddr, vaddr + len);

	if (!l)
		return -EFAULT;
	if (img->fd >= 0)
		return pread_all(img->fd, l->off + (vaddr - l->vaddr), to, len);
	return img->read(img->ctx, vaddr + img->bias, to, len);
}

bool image_is_in_exec_segment(const struct image *img, uint64_t start, uint64_t end)
{
	const struct image_load *l = find_load(img, start, end);

	return l && l->exec;
}

const uint8_t *image_move_window(struct image *img, uint64_t vaddr, size_t len)
{
	const struct image_load *l = find_load(img, vaddr, vaddr + len);
	uint64_t left;

	if (!l || !l->exec || len > IMAGE_MAX_CODE)
		return NULL;
	left = l->size - (vaddr - l->vaddr);
	img->window_size = 0;
	if (left > IMAGE_WINDOW)
		left = IMAGE_WINDOW;
	if (left > img->window_room) {
		free(img->window);
		img->window = malloc(left);
		img->window_room = img->window ? left : 0;
		if (!img->window)
			return NULL;
	}
	if (image_read(img, vaddr, img->window, left)) {
		/* the end of the file may be missing */
		if (image_read(img, vaddr, img->window, len))
			return NULL;
		left = len;
	}
	img->window_start = vaddr;
	img->window_size = left;
	return img->window;
}

bool image_is_in_code_range(const struct image *img, uint64_t start, uint64_t end)
{
	unsigned int i;

	for (i = 0; i < img->nr_code && start >= img->code[i].start; i++) {
		if (start < img->code[i].end && end >= start && end <= img->code[i].end)
			return true;
	}
	return false;
}

static int compare_starts(const void *a, const void *b)
{
	const struct image_range *x = a, *y = b;

	return cmp_int(x->start, y->start);
}

static void sort_code(struct image *img)
{
	qsort(img->code, img->nr_code, sizeof(*img->code), compare_starts);
}

void image_distrust_sections(struct image *img)
{
	unsigned int i;

	img->by_sections = false;
	img->nr_code = 0;
	for (i = 0; i < img->nr_loads; i++) {
		if (img->load[i].exec)
			img->code[img->nr_code++] = (struct image_range){
				img->load[i].vaddr, img->load[i].vaddr + img->load[i].size };
	}
	sort_code(img);
}

/* Read the header of a 32-bit file as that of a 64-bit file. */
static int read_header32(struct image *img, Elf64_Ehdr *ehdr)
{
	Elf32_Ehdr head;
	int ret = read_file(img, 0, &head, sizeof(head));

	if (!ret)
		elf32_ehdr(&head, ehdr);
	return ret;
}

static int read_header(struct image *img, Elf64_Ehdr *ehdr)
{
	int ret = read_file(img, 0, ehdr, EI_NIDENT);
	bool is_32 = !ret && ehdr->e_ident[EI_CLASS] == ELFCLASS32;

	if (!ret)
		ret = is_32 ? read_header32(img, ehdr) : read_file(img, 0, ehdr, sizeof(*ehdr));
	if (ret == -EFAULT || (!ret && memcmp(ehdr->e_ident, ELFMAG, SELFMAG)))
		return -ENOEXEC;
	if (ret)
		return ret;
	if (!is_32 && ehdr->e_ident[EI_CLASS] != ELFCLASS64)
		return -EOPNOTSUPP;
	if (ehdr->e_ident[EI_DATA] != ELFDATA2LSB && ehdr->e_ident[EI_DATA] != ELFDATA2MSB)
		return -ENOEXEC;
	img->big_endian = ehdr->e_ident[EI_DATA] == ELFDATA2MSB;
	img->machine = image_to_host16(img, ehdr->e_machine);
	img->addr_size = is_32 ? 4 : 8;
	/* x32 is neither */
	if (is_32 != (img->machine == EM_386) || (is_32 && img->big_endian))
		return -EOPNOTSUPP;
	img->entry = image_to_host64(img, ehdr->e_entry);
	img->fixed = image_to_host16(img, ehdr->e_type) == ET_EXEC;
	switch (image_to_host16(img, ehdr->e_type)) {
	case ET_EXEC:
	case ET_DYN:
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static int add_load(struct image *img, const Elf64_Phdr *ph)
{
	struct image_load *l = &img->load[img->nr_loads];

	l->vaddr = image_to_host64(img, ph->p_vaddr);
	l->off = image_to_host64(img, ph->p_offset);
	l->size = image_to_host64(img, ph->p_filesz);
	l->exec = image_to_host32(img, ph->p_flags) & PF_X;
	if (!l->size)
		return 0;
	if (img->nr_loads == IMAGE_MAX_LOADS || l->vaddr + l->size < l->vaddr)
		return -ENOEXEC;
	if (l->exec) {
		if (img->text.start == img->text.end) {
			img->text.start = l->vaddr;
			img->text.end = l->vaddr + l->size;
		}
		if (l->vaddr < img->text.start)
			img->text.start = l->vaddr;
		if (l->vaddr + l->size > img->text.end)
			img->text.end = l->vaddr + l->size;
	}
	img->nr_loads++;
	return 0;
}

/* Read @nr program headers. */
static int read_phdrs(struct image *img, uint64_t off, unsigned int nr, Elf64_Phdr *ph)
{
	Elf32_Phdr head;
	unsigned int i;
	int ret = 0;

	if (img->addr_size == 8)
		return read_file(img, off, ph, nr * sizeof(*ph));
	for (i = 0; i < nr && !ret; i++) {
		ret = read_file(img, off + i * sizeof(head), &head, sizeof(head));
		if (!ret)
			elf32_phdr(&head, &ph[i]);
	}
	return ret;
}

static int read_shdrs(struct image *img, uint64_t off, unsigned int nr, Elf64_Shdr *sh)
{
	Elf32_Shdr head;
	unsigned int i;
	int ret = 0;

	if (img->addr_size == 8)
		return read_file(img, off, sh, nr * sizeof(*sh));
	for (i = 0; i < nr && !ret; i++) {
		ret = read_file(img, off + i * sizeof(head), &head, sizeof(head));
		if (!ret)
			elf32_shdr(&head, &sh[i]);
	}
	return ret;
}

static int read_segments(struct image *img, const Elf64_Ehdr *ehdr)
{
	unsigned int nr = image_to_host16(img, ehdr->e_phnum), i;
	Elf64_Phdr *ph;
	int ret;

	if (!nr || nr > MAX_PHDRS || image_to_host16(img, ehdr->e_phentsize) != sizeof(*ph))
		return -ENOEXEC;
	ph = malloc(nr * sizeof(*ph));
	if (!ph)
		return -ENOMEM;
	ret = read_phdrs(img, image_to_host64(img, ehdr->e_phoff), nr, ph);
	if (ret == -EFAULT)
		ret = -ENOEXEC;
	for (i = 0; i < nr && !ret; i++) {
		switch (image_to_host32(img, ph[i].p_type)) {
		case PT_LOAD:
			ret = add_load(img, &ph[i]);
			break;
		case PT_INTERP:
			img->has_interp = true;
			break;
		case PT_DYNAMIC:
			img->dynamic.start = image_to_host64(img, ph[i].p_vaddr);
			img->dynamic.end = img->dynamic.start +
					   image_to_host64(img, ph[i].p_filesz);
			if (img->dynamic.end < img->dynamic.start)
				img->dynamic.end = img->dynamic.start;
			break;
		case PT_GNU_EH_FRAME:
			img->eh_hdr.start = image_to_host64(img, ph[i].p_vaddr);
			img->eh_hdr.end = img->eh_hdr.start + image_to_host64(img, ph[i].p_filesz);
			if (img->eh_hdr.end < img->eh_hdr.start)
				img->eh_hdr.end = img->eh_hdr.start;
			break;
		}
	}
	free(ph);
	if (ret)
		return ret;
	if (!img->nr_loads)
		return -ENOEXEC;
	/* the header is at the start of the first segment */
	if (img->fd < 0)
		img->bias = img->addr - (img->load[0].vaddr - img->load[0].off);
	return 0;
}

/* @names: the section with the names of symbols, or NULL */
static void add_list(struct image *img, const Elf64_Shdr *sh, const Elf64_Shdr *names)
{
	struct image_list *l = &img->list[img->nr_lists];

	switch (image_to_host32(img, sh->sh_type)) {
	case SHT_SYMTAB:
	case SHT_DYNSYM:
	case SHT_RELA:
	case SHT_INIT_ARRAY:
	case SHT_FINI_ARRAY:
	case SHT_PREINIT_ARRAY:
		break;
	default:
		return;
	}
	if (img->nr_lists == IMAGE_MAX_LISTS)
		return;
	l->type = image_to_host32(img, sh->sh_type);
	l->vaddr = image_to_host64(img, sh->sh_addr);
	l->off = image_to_host64(img, sh->sh_offset);
	l->size = image_to_host64(img, sh->sh_size);
	l->strings = names ? image_to_host64(img, names->sh_offset) : 0;
	l->strings_size = names ? image_to_host64(img, names->sh_size) : 0;
	img->nr_lists++;
}

static void add_section(struct image *img, const Elf64_Shdr *sh, const char *name)
{
	struct image_range r = { .start = image_to_host64(img, sh->sh_addr) };

	if (!(image_to_host64(img, sh->sh_flags) & SHF_ALLOC) ||
	    image_to_host32(img, sh->sh_type) == SHT_NOBITS)
		return;
	r.end = r.start + image_to_host64(img, sh->sh_size);
	if (!find_load(img, r.start, r.end))
		return;
	if (image_to_host64(img, sh->sh_flags) & SHF_EXECINSTR && r.start < r.end &&
	    image_is_in_exec_segment(img, r.start, r.end)) {
		img->by_sections = img->nr_code < IMAGE_MAX_RANGES;
		if (img->by_sections)
			img->code[img->nr_code++] = r;
	}
	if (!strcmp(name, ".text"))
		img->text_section = r.start;
	if (!strcmp(name, ".gcc_except_table"))
		img->has_pads = true;
	if (!strcmp(name, ".gopclntab") || !strcmp(name, ".data.rel.ro.gopclntab"))
		img->go = r;
	if (!strcmp(name, ".data.rel.ro"))
		img->relro = r;
	if (!strcmp(name, ".go.buildinfo") || !strcmp(name, ".note.go.buildid"))
		img->is_go = true;
	if (!strcmp(name, ".eh_frame")) {
		img->eh_frame = r;
		img->eh_ends_at_zero = false;
	} else if (!strcmp(name, ".plt") || !strncmp(name, ".plt.", 5) || !strcmp(name, ".iplt")) {
		if (img->nr_plts < IMAGE_MAX_PLTS)
			img->plt[img->nr_plts++] = r;
	}
}

/* Section headers help but are not needed, so there are no errors here. */
static int read_sections(struct image *img, const Elf64_Ehdr *ehdr)
{
	unsigned int nr = image_to_host16(img, ehdr->e_shnum), i;
	unsigned int names = image_to_host16(img, ehdr->e_shstrndx);
	Elf64_Shdr *sh = NULL;
	char *str = NULL;
	uint64_t size;
	uint32_t name;
	int ret = 0;

	img->no_sections = img->fd >= 0 && !nr;
	if (img->fd < 0 || names >= nr || image_to_host16(img, ehdr->e_shentsize) != sizeof(*sh))
		return 0;
	sh = malloc(nr * sizeof(*sh));
	if (!sh)
		return -ENOMEM;
	if (read_shdrs(img, image_to_host64(img, ehdr->e_shoff), nr, sh))
		goto out;
	size = image_to_host64(img, sh[names].sh_size);
	if (!size || size > MAX_NAMES)
		goto out;
	str = malloc(size);
	if (!str) {
		ret = -ENOMEM;
		goto out;
	}
	if (read_file(img, image_to_host64(img, sh[names].sh_offset), str, size))
		goto out;
	str[size - 1] = 0;
	for (i = 0; i < nr; i++) {
		add_list(img, &sh[i], image_to_host32(img, sh[i].sh_link) < nr ?
			 &sh[image_to_host32(img, sh[i].sh_link)] : NULL);
		name = image_to_host32(img, sh[i].sh_name);
		if (name < size)
			add_section(img, &sh[i], str + name);
	}
out:
	free(sh);
	free(str);
	return ret;
}

/* Find .eh_frame through PT_GNU_EH_FRAME: from its pointer to the end of the segment. */
static void find_eh_frame(struct image *img)
{
	uint64_t size = img->eh_hdr.end - img->eh_hdr.start, start;
	const struct image_load *l;
	uint8_t hdr[32];

	if (size > sizeof(hdr))
		size = sizeof(hdr);
	if (!size || image_read(img, img->eh_hdr.start, hdr, size) ||
	    cfi_find_eh_frame(hdr, size, img->eh_hdr.start, img->big_endian, img->addr_size,
			      &start))
		return;
	l = find_load(img, start, start);
	if (!l)
		return;
	img->eh_frame.start = start;
	img->eh_frame.end = l->vaddr + l->size;
	img->eh_ends_at_zero = true;
}

int image_open(struct image *img)
{
	Elf64_Ehdr ehdr;
	unsigned int i;
	int ret;

	ret = read_header(img, &ehdr);
	if (!ret)
		ret = read_segments(img, &ehdr);
	if (!ret)
		ret = read_sections(img, &ehdr);
	if (ret)
		return ret;
	sort_code(img);
	for (i = 1; i < img->nr_code; i++)
		img->by_sections &= img->code[i].start >= img->code[i - 1].end;
	if (!img->by_sections)
		image_distrust_sections(img);
	if (img->eh_frame.start == img->eh_frame.end)
		find_eh_frame(img);
	return 0;
}

struct cfi_section image_describe_eh_frame(const struct image *img, const struct arch *arch)
{
	const struct sframe_arch *abi = arch->abi;

	return (struct cfi_section){
		.vaddr = img->eh_frame.start, .big_endian = img->big_endian,
		.addr_size = img->addr_size,
		.reg_sp = abi->reg_sp, .reg_fp = abi->reg_fp, .reg_ra = abi->reg_ra,
		.reg_pc = arch->reg_pc, .sp_off = abi->sp_off, .arm64 = abi->mangles_ra,
		.ends_at_zero = img->eh_ends_at_zero,
	};
}

void image_close(struct image *img)
{
	free(img->window);
	img->window = NULL;
}
