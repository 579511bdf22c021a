// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * gen_image - the ELF file or image that a table is made for
 *
 * Of a file the section headers tell where .eh_frame and the PLTs are; they are not mapped, and may
 * have been stripped, so PT_GNU_EH_FRAME is the other way to .eh_frame. Code is read through a
 * window that moves forward, as it is looked at here and there in ascending order.
 */
#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen_impl.h"

#define MAX_PHDRS	512
#define MAX_SHDRS	65536
#define MAX_NAMES	(16u << 20)

static uint16_t get16(const struct gen_image *img, uint16_t v)
{
	return img->big_endian ? be16toh(v) : le16toh(v);
}

static uint32_t get32(const struct gen_image *img, uint32_t v)
{
	return img->big_endian ? be32toh(v) : le32toh(v);
}

static uint64_t get64(const struct gen_image *img, uint64_t v)
{
	return img->big_endian ? be64toh(v) : le64toh(v);
}

static int pread_all(int fd, uint64_t off, void *to, size_t len)
{
	uint8_t *p = to;
	ssize_t n;

	if (off > INT64_MAX - len)
		return -EFAULT;
	while (len) {
		n = pread(fd, p, len, off);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -EFAULT;
		p += n;
		off += n;
		len -= n;
	}
	return 0;
}

/* By offset in the file. In memory that is true of what lies near the header. */
static int read_file(struct gen_image *img, uint64_t off, void *to, size_t len)
{
	if (img->fd >= 0)
		return pread_all(img->fd, off, to, len);
	return img->read(img->ctx, img->addr + off, to, len);
}

int image_read_list(struct gen_image *img, uint64_t off, void *to, size_t len)
{
	return read_file(img, off, to, len);
}

static const struct gen_load *load_of(const struct gen_image *img, uint64_t start, uint64_t end)
{
	const struct gen_load *l;

	for (l = img->load; l < img->load + img->nr_loads; l++) {
		if (start >= l->vaddr && end >= start && end - l->vaddr <= l->size)
			return l;
	}
	return NULL;
}

int image_read(struct gen_image *img, uint64_t vaddr, void *to, size_t len)
{
	const struct gen_load *l = load_of(img, vaddr, vaddr + len);

	if (!l)
		return -EFAULT;
	if (img->fd >= 0)
		return pread_all(img->fd, l->off + (vaddr - l->vaddr), to, len);
	return img->read(img->ctx, vaddr + img->bias, to, len);
}

bool image_is_code(const struct gen_image *img, uint64_t start, uint64_t end)
{
	const struct gen_load *l = load_of(img, start, end);

	return l && l->exec;
}

const uint8_t *image_code(struct gen_image *img, uint64_t vaddr, size_t len)
{
	const struct gen_load *l;
	uint64_t left;

	if (vaddr >= img->window_start && vaddr - img->window_start <= img->window_size &&
	    len <= img->window_size - (vaddr - img->window_start))
		return img->window + (vaddr - img->window_start);
	l = load_of(img, vaddr, vaddr + len);
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

static int read_header(struct gen_image *img, Elf64_Ehdr *ehdr)
{
	int ret = read_file(img, 0, ehdr, sizeof(*ehdr));

	if (ret == -EFAULT || (!ret && memcmp(ehdr->e_ident, ELFMAG, SELFMAG)))
		return -ENOEXEC;
	if (ret)
		return ret;
	if (ehdr->e_ident[EI_CLASS] != ELFCLASS64)
		return -EOPNOTSUPP;
	if (ehdr->e_ident[EI_DATA] != ELFDATA2LSB && ehdr->e_ident[EI_DATA] != ELFDATA2MSB)
		return -ENOEXEC;
	img->big_endian = ehdr->e_ident[EI_DATA] == ELFDATA2MSB;
	img->machine = get16(img, ehdr->e_machine);
	img->entry = get64(img, ehdr->e_entry);
	img->fixed = get16(img, ehdr->e_type) == ET_EXEC;
	switch (get16(img, ehdr->e_type)) {
	case ET_EXEC:
	case ET_DYN:
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static int add_load(struct gen_image *img, const Elf64_Phdr *ph)
{
	struct gen_load *l = &img->load[img->nr_loads];

	l->vaddr = get64(img, ph->p_vaddr);
	l->off = get64(img, ph->p_offset);
	l->size = get64(img, ph->p_filesz);
	l->exec = get32(img, ph->p_flags) & PF_X;
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

static int read_segments(struct gen_image *img, const Elf64_Ehdr *ehdr)
{
	unsigned int nr = get16(img, ehdr->e_phnum), i;
	Elf64_Phdr *ph;
	int ret;

	if (!nr || nr > MAX_PHDRS || get16(img, ehdr->e_phentsize) != sizeof(*ph))
		return -ENOEXEC;
	ph = malloc(nr * sizeof(*ph));
	if (!ph)
		return -ENOMEM;
	ret = read_file(img, get64(img, ehdr->e_phoff), ph, nr * sizeof(*ph));
	if (ret == -EFAULT)
		ret = -ENOEXEC;
	for (i = 0; i < nr && !ret; i++) {
		switch (get32(img, ph[i].p_type)) {
		case PT_LOAD:
			ret = add_load(img, &ph[i]);
			break;
		case PT_INTERP:
			img->has_interp = true;
			break;
		case PT_DYNAMIC:
			img->dynamic.start = get64(img, ph[i].p_vaddr);
			img->dynamic.end = img->dynamic.start + get64(img, ph[i].p_filesz);
			if (img->dynamic.end < img->dynamic.start)
				img->dynamic.end = img->dynamic.start;
			break;
		case PT_GNU_EH_FRAME:
			img->eh_hdr.start = get64(img, ph[i].p_vaddr);
			img->eh_hdr.end = img->eh_hdr.start + get64(img, ph[i].p_filesz);
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

static void add_list(struct gen_image *img, const Elf64_Shdr *sh)
{
	struct gen_list *l = &img->list[img->nr_lists];

	switch (get32(img, sh->sh_type)) {
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
	l->type = get32(img, sh->sh_type);
	l->vaddr = get64(img, sh->sh_addr);
	l->off = get64(img, sh->sh_offset);
	l->size = get64(img, sh->sh_size);
	img->nr_lists++;
}

static void add_section(struct gen_image *img, const Elf64_Shdr *sh, const char *name)
{
	struct gen_range r = { .start = get64(img, sh->sh_addr) };

	if (!(get64(img, sh->sh_flags) & SHF_ALLOC) || get32(img, sh->sh_type) == SHT_NOBITS)
		return;
	r.end = r.start + get64(img, sh->sh_size);
	if (!load_of(img, r.start, r.end))
		return;
	if (!strcmp(name, ".text"))
		img->text_section = r.start;
	if (!strcmp(name, ".eh_frame")) {
		img->eh_frame = r;
		img->eh_ends_at_zero = false;
	} else if (!strcmp(name, ".plt") || !strncmp(name, ".plt.", 5) || !strcmp(name, ".iplt")) {
		if (img->nr_plts < IMAGE_MAX_PLTS)
			img->plt[img->nr_plts++] = r;
	}
}

/* Section headers are welcome but not needed: nothing here is an error. */
static int read_sections(struct gen_image *img, const Elf64_Ehdr *ehdr)
{
	unsigned int nr = get16(img, ehdr->e_shnum), names = get16(img, ehdr->e_shstrndx), i;
	Elf64_Shdr *sh = NULL;
	char *str = NULL;
	uint64_t size;
	uint32_t name;
	int ret = 0;

	if (img->fd < 0 || names >= nr || get16(img, ehdr->e_shentsize) != sizeof(*sh))
		return 0;
	sh = malloc(nr * sizeof(*sh));
	if (!sh)
		return -ENOMEM;
	if (read_file(img, get64(img, ehdr->e_shoff), sh, nr * sizeof(*sh)))
		goto out;
	size = get64(img, sh[names].sh_size);
	if (!size || size > MAX_NAMES)
		goto out;
	str = malloc(size);
	if (!str) {
		ret = -ENOMEM;
		goto out;
	}
	if (read_file(img, get64(img, sh[names].sh_offset), str, size))
		goto out;
	str[size - 1] = 0;
	for (i = 0; i < nr; i++) {
		add_list(img, &sh[i]);
		name = get32(img, sh[i].sh_name);
		if (name < size)
			add_section(img, &sh[i], str + name);
	}
out:
	free(sh);
	free(str);
	return ret;
}

/* .eh_frame by way of PT_GNU_EH_FRAME: from what its pointer says to the end of the segment. */
static void find_eh_frame(struct gen_image *img)
{
	uint64_t size = img->eh_hdr.end - img->eh_hdr.start, start;
	const struct gen_load *l;
	uint8_t hdr[32];

	if (size > sizeof(hdr))
		size = sizeof(hdr);
	if (!size || image_read(img, img->eh_hdr.start, hdr, size) ||
	    cfi_hdr_parse(hdr, size, img->eh_hdr.start, img->big_endian, 8, &start))
		return;
	l = load_of(img, start, start);
	if (!l)
		return;
	img->eh_frame.start = start;
	img->eh_frame.end = l->vaddr + l->size;
	img->eh_ends_at_zero = true;
}

int image_open(struct gen_image *img)
{
	Elf64_Ehdr ehdr;
	int ret;

	ret = read_header(img, &ehdr);
	if (!ret)
		ret = read_segments(img, &ehdr);
	if (!ret)
		ret = read_sections(img, &ehdr);
	if (ret)
		return ret;
	if (img->eh_frame.start == img->eh_frame.end)
		find_eh_frame(img);
	return 0;
}

void image_close(struct gen_image *img)
{
	free(img->window);
	img->window = NULL;
}
