// SPDX-License-Identifier: GPL-2.0
/*
 * test_symbols_debug.c - finds debug information wherever it is
 *
 * It may be in the file or in separate files. It may be compressed, shared, split, replaced or
 * absent. The test builds its files with gcc, objcopy, xz and dwz.
 */
#include "debug_place.h"

/* The facts about hidden() in a file: inlines and lines, or the symbol, or nothing. */
static const char *known(const char *file, struct uu_debug_info *info)
{
	struct uu_file f = { .path = in_place(file) };
	const struct uu_frame *fr;
	struct uu_debug_info mine;
	size_t nr;
	int ret;

	ret = uu_symbols_lines(syms, &f, in_hidden, &fr, &nr);
	assert_int_equal(uu_symbols_debug_info(syms, &f, info ? info : &mine), 0);
	if (ret)
		return "nothing";
	if (nr == 1) {
		assert_false(fr[0].inlined);
		if (fr[0].file)
			return fr[0].name && !strcmp(fr[0].name, "hidden") ? "line" : "?";
		return fr[0].name && !strcmp(fr[0].name, "hidden") ? "symbol" : "?";
	}
	if (nr != 2 || !fr[0].inlined || fr[1].inlined || !fr[0].name || !fr[1].name ||
	    strcmp(fr[0].name, "inner") || strcmp(fr[1].name, "hidden") || fr[0].line != 1 ||
	    fr[1].line != 3 || !fr[0].file || !strstr(fr[0].file, "p.c") ||
	    fr[0].file != fr[1].file)
		return "something else";
	return "all";
}

static void assert_known(const char *file, const char *what, enum uu_debug_kind kind)
{
	struct uu_debug_info info;

	assert_string_equal(known(file, &info), what);
	assert_int_equal(info.kind, kind);
}

static void debug_information_in_the_file_itself_is_found(void **state)
{
	(void)state;
	assert_known("full", "all", UU_DEBUG_IN_FILE);
	/* without any of it there is nothing to know about a static function */
	assert_known("stripped", "nothing", UU_DEBUG_NONE);
}

static void an_object_without_debug_information_gives_the_symbol(void **state)
{
	struct uu_symbols *plain = uu_symbols_new(NULL);
	struct uu_file f = { .path = in_place("full") };
	const struct uu_frame *fr;
	struct uu_debug_info info;
	size_t nr;

	(void)state;
	assert_non_null(plain);
	assert_int_equal(uu_symbols_lines(plain, &f, in_hidden, &fr, &nr), 0);
	assert_int_equal(nr, 1);
	assert_string_equal(fr[0].name, "hidden");
	assert_null(fr[0].file);
	assert_int_equal(uu_symbols_debug_info(plain, &f, &info), 0);
	assert_int_equal(info.kind, UU_DEBUG_NONE);
	assert_int_equal(info.error, -ENOENT);
	/* the leak check sees whether all of it is freed */
	fr = NULL;
	uu_symbols_free(plain);
}

static void the_path_is_the_compilers(void **state)
{
	struct uu_file f = { .path = in_place("full") };
	const struct uu_frame *fr;
	size_t nr;

	(void)state;
	assert_int_equal(uu_symbols_lines(syms, &f, in_hidden, &fr, &nr), 0);
	assert_string_equal(fr[0].file, in_place("p.c"));
}

static void every_version_and_compression(void **state)
{
	static const char *const flags[] = {
		"-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5", "-g -gdwarf64",
		"-gdwarf-4 -gz=zlib", "-gdwarf-5 -gz=zlib", "-g -gz=zlib-gnu", "-g -no-pie", "-g1",
		"-g -m32",
	};
	const uint64_t was = in_hidden;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		if (try("gcc -O2 %s -o version p.c", flags[i])) {
			print_message("skipped: gcc cannot do %s\n", flags[i]);
			continue;
		}
		begin();
		in_hidden = offset_of("version", "hidden");
		assert_known("version", "all", UU_DEBUG_IN_FILE);
	}
	in_hidden = was;
	if (try("objcopy --compress-debug-sections=zstd full zstd")) {
		print_message("skipped: objcopy does not know zstd\n");
		return;
	}
	begin();
	assert_known("zstd", "all", UU_DEBUG_IN_FILE);
}

/* Put full.debug where the build-id of full says. */
static void put_by_build_id(const char *dir, const char *what)
{
	const char *id = id_text("full");

	sh("mkdir -p %s/.build-id/%.2s && cp %s %s/.build-id/%.2s/%s.debug", dir, id, what, dir,
	   id, id + 2);
}

static void by_build_id(void **state)
{
	(void)state;
	put_by_build_id("debug", "full.debug");
	assert_known("stripped", "all", UU_DEBUG_BUILD_ID);
}

static void a_function_of_a_stripped_file_is_found_in_its_debug_file(void **state)
{
	struct uu_file f = { .path = in_place("stripped") };
	struct uu_symbols *plain = uu_symbols_new(&opts);
	struct uu_symbol s;

	(void)state;
	put_by_build_id("debug", "full.debug");
	assert_int_equal(uu_symbols_find(syms, &f, in_hidden, &s), 0);
	assert_string_equal(s.name, "hidden");
	assert_int_equal(s.start, in_hidden);
	/* a caller that did not ask for debug files gets what the file says */
	assert_int_equal(uu_symbols_find(plain, &f, in_hidden, &s), -ENOENT);
	uu_symbols_free(plain);
}

static void a_debug_file_with_another_build_id_is_refused(void **state)
{
	(void)state;
	sh("gcc -O2 -g -Wl,--build-id=0x0102030405060708 -o other p.c && "
	   "objcopy --only-keep-debug other other.debug");
	put_by_build_id("debug", "other.debug");
	assert_known("stripped", "nothing", UU_DEBUG_NONE);
	/* and one without a build ID */
	sh("objcopy -R .note.gnu.build-id full.debug none.debug");
	put_by_build_id("debug", "none.debug");
	begin();
	assert_known("stripped", "nothing", UU_DEBUG_NONE);
}

static void linked(void)
{
	sh("mkdir -p dir && cp stripped dir/linked && objcopy --add-gnu-debuglink=full.debug "
	   "dir/linked");
}

static void by_debuglink_next_to_the_file(void **state)
{
	(void)state;
	linked();
	assert_known("dir/linked", "nothing", UU_DEBUG_NONE);
	sh("cp full.debug dir/");
	begin();
	assert_known("dir/linked", "all", UU_DEBUG_LINK);
}

static void by_debuglink_in_dot_debug(void **state)
{
	(void)state;
	linked();
	sh("mkdir dir/.debug && cp full.debug dir/.debug/");
	assert_known("dir/linked", "all", UU_DEBUG_LINK);
}

static void by_debuglink_below_the_debug_directory(void **state)
{
	(void)state;
	linked();
	sh("mkdir -p debug%s/dir && cp full.debug debug%s/dir/", place, place);
	assert_known("dir/linked", "all", UU_DEBUG_LINK);
}

static void a_debuglink_with_another_crc_is_refused(void **state)
{
	(void)state;
	linked();
	/* the same file with a byte more */
	sh("cp full.debug dir/ && printf x >>dir/full.debug");
	assert_known("dir/linked", "nothing", UU_DEBUG_NONE);
}

static void a_debuglink_to_another_build_is_refused(void **state)
{
	(void)state;
	sh("mkdir -p dir && gcc -O2 -g -Wl,--build-id=0x0102030405060708 -o other p.c && "
	   "objcopy --only-keep-debug other dir/other.debug && cp stripped dir/linked && "
	   "objcopy --add-gnu-debuglink=dir/other.debug dir/linked");
	assert_known("dir/linked", "nothing", UU_DEBUG_NONE);
}

static void a_debuglink_leads_to_no_other_directory(void **state)
{
	(void)state;
	/* "./dir/x" in place of "full.debug": its CRC would be right */
	linked();
	sh("cp full.debug dir/x && cp dir/linked dir/bad && "
	   "sed -i 's|full\\.debug|../dir/x\\x00\\x00|' dir/bad && cmp -s dir/bad dir/linked; "
	   "test $? = 1");
	assert_known("dir/bad", "nothing", UU_DEBUG_NONE);
}

static void minidebuginfo_has_functions(void **state)
{
	struct uu_file f = { .path = in_place("mini") };
	struct uu_debug_info info;

	(void)state;
	if (try("xz --version >/dev/null"))
		skip();
	sh("objcopy -S --keep-symbol=hidden full.debug mini.debug && xz -kf mini.debug && "
	   "objcopy --add-section .gnu_debugdata=mini.debug.xz stripped mini");
	assert_known("mini", "symbol", UU_DEBUG_MINI);
	assert_int_equal(uu_symbols_debug_info(syms, &f, &info), 0);
	assert_int_equal(info.error, -ENOENT);
	/* cut short, and not xz at all */
	sh("head -c 200 mini.debug.xz >bad.xz && "
	   "objcopy --add-section .gnu_debugdata=bad.xz stripped mini");
	begin();
	assert_known("mini", "nothing", UU_DEBUG_NONE);
	/* with 2 MB of zeros after it, in a few kilobytes */
	sh("(cat mini.debug && head -c 2M /dev/zero) | xz -0 >large.xz && "
	   "objcopy --add-section .gnu_debugdata=large.xz stripped mini");
	begin();
	assert_known("mini", "symbol", UU_DEBUG_MINI);
	opts.debug_bytes = 1 << 20;
	begin();
	assert_known("mini", "nothing", UU_DEBUG_NONE);
}

static void what_dwz_moved_to_a_common_file(void **state)
{
	const uint64_t was = in_hidden;
	struct uu_debug_info info;

	(void)state;
	if (try("dwz --version >/dev/null 2>&1"))
		skip();
	/* two programs that have enough in common; p.c is the same one as before, code included */
	sh("for i in $(seq 60); do echo \"struct type_$i { int first_$i; char *second_$i; } "
	   "variable_$i;\"; done >big.h && mkdir -p dir && sed 's/main/mean/' p.c >q.c && "
	   "gcc -include big.h -O2 -g -Wl,--build-id -o dir/a p.c && "
	   "gcc -include big.h -O2 -g -Wl,--build-id -shared -fPIC -o dir/b q.c && "
	   "cd dir && dwz -l none -L none -m common -M common a b");
	in_hidden = offset_of("dir/a", "hidden");
	assert_known("dir/a", "all", UU_DEBUG_IN_FILE);
	/* the name alone is not enough, or the next lines would test nothing */
	sh("readelf --debug-dump=info dir/a | grep -q 'alt indirect string'");
	sh("mv dir/common dir/hidden");
	begin();
	known("dir/a", &info);
	assert_true(info.alt_missing);
	assert_int_equal(info.error, 0);
	/* another file by its name */
	sh("cp full.debug dir/common");
	begin();
	known("dir/a", &info);
	assert_true(info.alt_missing);
	/* by its build-id */
	sh("id=$(readelf -n dir/hidden | sed -n 's/ *Build ID: //p') && "
	   "mkdir -p debug/.build-id/$(echo $id | cut -c 1-2) && "
	   "cp dir/hidden debug/.build-id/$(echo $id | cut -c 1-2)/$(echo $id | cut -c 3-).debug");
	begin();
	assert_string_equal(known("dir/a", &info), "all");
	assert_false(info.alt_missing);
	in_hidden = was;
}

static void split_units_are_called_unsupported(void **state)
{
	struct uu_debug_info info;
	const uint64_t was = in_hidden;
	int v;

	(void)state;
	for (v = 4; v <= 5; v++) {
		sh("gcc -O2 -gdwarf-%d -gsplit-dwarf -o split p.c", v);
		begin();
		in_hidden = offset_of("split", "hidden");
		/* the line table is there, and so is the symbol */
		assert_string_equal(known("split", &info), "line");
		assert_true(info.split);
	}
	in_hidden = was;
}

static void a_file_that_was_replaced_is_noticed(void **state)
{
	uint8_t id[32];
	struct uu_file f = { .path = in_place("dir/app"), .build_id = id };
	const struct uu_frame *fr;
	struct uu_debug_info info;
	size_t nr;

	(void)state;
	f.build_id_size = id_of("full", id);
	sh("mkdir -p dir && cp full dir/app");
	assert_int_equal(uu_symbols_lines(syms, &f, in_hidden, &fr, &nr), 0);
	assert_int_equal(nr, 2);
	sh("gcc -O1 -g -Wl,--build-id -o dir/app p.c");
	begin();
	assert_int_equal(uu_symbols_lines(syms, &f, in_hidden, &fr, &nr), -ESTALE);
	assert_null(fr);
	assert_int_equal(nr, 0);
	assert_int_equal(uu_symbols_debug_info(syms, &f, &info), -ESTALE);
}

static void a_debug_file_that_is_replaced_meanwhile_is_noticed(void **state)
{
	struct uu_file f = { .path = in_place("stripped") };
	const struct uu_frame *fr;
	struct uu_debug_info info;
	struct uu_symbol s;
	size_t nr;

	(void)state;
	put_by_build_id("debug", "full.debug");
	assert_int_equal(uu_symbols_find(syms, &f, in_hidden, &s), 0);
	put_by_build_id("debug", "full");
	assert_int_equal(uu_symbols_lines(syms, &f, in_hidden, &fr, &nr), 0);
	assert_int_equal(nr, 1);
	assert_null(fr[0].file);
	assert_int_equal(uu_symbols_debug_info(syms, &f, &info), 0);
	assert_int_equal(info.error, -ESTALE);
}

static void memory_is_bounded(void **state)
{
	struct uu_debug_info info;
	FILE *f;

	(void)state;
	opts.debug_bytes = 100;
	begin();
	assert_string_equal(known("full", &info), "symbol");
	assert_int_equal(info.error, -EFBIG);
	/* a file that could not be read does not use up the budget of the next one */
	sh("objcopy --remove-section .debug_abbrev full no-abbrev && size -A -d full | "
	   "awk '/debug_(info|abbrev|line|str|r)/ { n += $2 } END { print n }' >size");
	f = fopen(in_place("size"), "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%zu", &opts.debug_bytes), 1);
	fclose(f);
	begin();
	assert_string_equal(known("no-abbrev", &info), "symbol");
	assert_int_equal(info.error, -ENOENT);
	assert_string_equal(known("full", &info), "all");
	/* a section that says it is larger than it can be */
	sh("gcc -O2 -g -gz=zlib -o bomb p.c && python3 -c '\n"
	   "import struct\n"
	   "b = bytearray(open(\"bomb\", \"rb\").read())\n"
	   "off, n, sz = struct.unpack_from(\"<Q\", b, 40)[0], *struct.unpack_from(\"<HH\", b, 58)"
	   "[1::-1]\n"
	   "n = struct.unpack_from(\"<H\", b, 60)[0]\n"
	   "for i in range(n):\n"
	   "    flags, at = struct.unpack_from(\"<Q8xQ\", b, off + 64 * i + 8)\n"
	   "    if flags & 0x800: struct.pack_into(\"<Q\", b, at + 8, 1 << 40)\n"
	   "open(\"bomb\", \"wb\").write(b)'");
	opts.debug_bytes = 0;
	begin();
	assert_string_equal(known("bomb", &info), "symbol");
	assert_int_equal(info.error, -EFBIG);
	opts.debug_bytes = SIZE_MAX;
	begin();
	assert_string_equal(known("bomb", &info), "symbol");
	assert_int_equal(info.error, -ENOEXEC);
}

static void code_without_debug_information_has_its_symbol(void **state)
{
	struct uu_file f = { .path = in_place("full") };
	uint64_t start = offset_of("full", "_start");
	const struct uu_frame *fr;
	size_t nr;

	(void)state;
	assert_int_equal(uu_symbols_lines(syms, &f, start, &fr, &nr), 0);
	assert_int_equal(nr, 1);
	assert_string_equal(fr[0].name, "_start");
	assert_int_equal(uu_symbols_lines(syms, &f, 0, &fr, &nr), -ENOENT);
	assert_int_equal(uu_symbols_lines(syms, &f, UINT64_MAX, &fr, &nr), -ENOENT);
}

/*
 * Damage whole files: they go through libelf, which reads headers and section tables its own way.
 */
static void damaged_files_do_no_harm(void **state)
{
	static uint8_t buf[65536], bad[65536];
	const struct uu_frame *fr;
	struct uu_debug_info info;
	char id[64];
	unsigned int seed = 1;
	size_t len, nr, k, i;
	int n, m;
	FILE *f;

	(void)state;
	snprintf(id, sizeof(id), "%s", id_text("full"));
	for (n = 0; n < 600; n++) {
		const char *name = n % 3 == 0 ? "full" : n % 3 == 1 ? "full.debug" : "dir/linked";
		struct uu_file file = { .path = in_place(n % 3 == 1 ? "stripped" : "dir/bad") };

		if (n < 3) {
			linked();
			sh("cp full.debug dir/");
			put_by_build_id("debug", "full.debug");
		}
		f = fopen(in_place(name), "r");
		assert_non_null(f);
		len = fread(buf, 1, sizeof(buf), f);
		fclose(f);
		memcpy(bad, buf, len);
		for (m = 0; m < 1 + n % 8; m++) {
			/* headers, sections of debug information, section headers */
			size_t at = m % 3 == 0 ? rand_r(&seed) % 900u :
				    m % 3 == 1 ? len - 1 - rand_r(&seed) % 3000 :
				    rand_r(&seed) % len;

			bad[at] = rand_r(&seed) % 3 ? rand_r(&seed) : 0xff;
		}
		if (n % 16 == 0)
			len = rand_r(&seed) % len;
		if (n % 3 == 1) {
			char cmd[256];

			snprintf(cmd, sizeof(cmd), "debug/.build-id/%.2s/%s.debug", id, id + 2);
			f = fopen(in_place(cmd), "w");
		} else {
			f = fopen(in_place("dir/bad"), "w");
		}
		assert_non_null(f);
		assert_int_equal(fwrite(bad, 1, len, f), len);
		fclose(f);
		begin();
		for (k = 0; k < 0x1400; k += 0x40)
			if (!uu_symbols_lines(syms, &file, k, &fr, &nr))
				for (i = 0; i < nr; i++)
					assert_true(i + 1 == nr || fr[i].inlined);
		uu_symbols_debug_info(syms, &file, &info);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(debug_information_in_the_file_itself_is_found),
		T(an_object_without_debug_information_gives_the_symbol),
		T(the_path_is_the_compilers),
		T(every_version_and_compression),
		T(by_build_id),
		T(a_function_of_a_stripped_file_is_found_in_its_debug_file),
		T(a_debug_file_with_another_build_id_is_refused),
		T(by_debuglink_next_to_the_file),
		T(by_debuglink_in_dot_debug),
		T(by_debuglink_below_the_debug_directory),
		T(a_debuglink_with_another_crc_is_refused),
		T(a_debuglink_to_another_build_is_refused),
		T(a_debuglink_leads_to_no_other_directory),
		T(minidebuginfo_has_functions),
		T(what_dwz_moved_to_a_common_file),
		T(split_units_are_called_unsupported),
		T(a_file_that_was_replaced_is_noticed),
		T(a_debug_file_that_is_replaced_meanwhile_is_noticed),
		T(memory_is_bounded),
		T(code_without_debug_information_has_its_symbol),
		T(damaged_files_do_no_harm),
	};

	return cmocka_run_group_tests_name("symbols_debug", tests, build_place, remove_place);
}
