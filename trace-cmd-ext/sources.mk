# SPDX-License-Identifier: GPL-2.0
# What trace-ustack is made of; its tests build it once more, with sanitizers.

# what the subcommands are made of, and what reads files for them
TOOL_SRC := trace_ustack.c memory.c cmd.c cmd_run.c cmd_filter.c filter_check.c near.c \
	cmd_report.c report_json.c report_out.c report_text.c cmd_stat.c reasons.c stat_count.c \
	stat_ends.c stat_files.c
# recording, see rec.h, and what that needs
TOOL_SRC += cmd_record.c rec_command.c rec_dat.c rec_events.c rec_free.c rec_guard.c rec_jit.c \
	rec_join.c rec_json.c rec_left.c rec_names.c rec_own.c rec_read.c rec_resume.c \
	rec_setup.c rec_summary.c rec_tables.c rec_tracefs.c rec_wait.c saved_tables.c
# see check.h
TOOL_SRC += cmd_check.c check_code.c check_files.c check_kernel.c check_left.c
# flame graphs, and what other tools read
TOOL_SRC += cmd_flame.c flame_json.c folded.c gather.c output.c paths.c svg.c tree.c waits.c \
	colour.c fold.c cmd_export.c export_each.c export_perf.c export_firefox.c \
	export_firefox_lines.c export_perfetto.c export_pprof.c proto.c strtab.c
MODEL_SRC := model.c model_counts.c model_events.c model_filter.c model_stacks.c \
	model_tally.c reader.c reader_raw.c
# see memory.c
TOOL_WRAP := $(addprefix -Wl$(COMMA)--wrap=,malloc calloc realloc strdup strndup asprintf \
	vasprintf __asprintf_chk __vasprintf_chk)
