# SPDX-License-Identifier: GPL-2.0
# bash completion for trace-ustack: commands and options come from the program itself
_trace_ustack()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local tool=${COMP_WORDS[0]} command=${COMP_WORDS[1]}

	if [ "$COMP_CWORD" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W \
			"$("$tool" --commands 2>/dev/null) help --help --version" -- "$cur")
		return
	fi
	if [ "$command" = help ]; then
		mapfile -t COMPREPLY < <(compgen -W "$("$tool" --commands 2>/dev/null)" -- "$cur")
		return
	fi
	case $command/$prev in
	record/-e | record/--event)
		mapfile -t COMPREPLY < <(compgen -W "$(cat \
			/sys/kernel/tracing/available_events 2>/dev/null)" -- "$cur")
		# a colon begins a word of its own
		[ "$prev" != : ] || COMPREPLY=("${COMPREPLY[@]#*:}")
		return
		;;
	record/-l | record/--function)
		mapfile -t COMPREPLY < <(compgen -W "$(cut -d ' ' -f 1 \
			/sys/kernel/tracing/available_filter_functions 2>/dev/null)" -- "$cur")
		return
		;;
	record/-p | record/--pid)
		mapfile -t COMPREPLY < <(compgen -W "$(cd /proc && echo [0-9]*)" -- "$cur")
		return
		;;
	esac
	case $prev in
	--by)
		mapfile -t COMPREPLY < <(compgen -W "count off-cpu wakeup" -- "$cur")
		return
		;;
	--source)
		mapfile -t COMPREPLY < <(compgen -W "auto ftrace bpf frame-pointers" -- "$cur")
		return
		;;
	--format)
		mapfile -t COMPREPLY < <(compgen -W "folded perf-script firefox perfetto pprof" \
			-- "$cur")
		return
		;;
	-r | --repair)
		mapfile -t COMPREPLY < <(compgen -G "$cur*.part*" | grep -E '\.part[0-9]+$'
			compgen -W "--json --verbose --tracefs" -- "$cur")
		return
		;;
	--sysroot | --tracefs)
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		return
		;;
	esac
	case $cur in
	-*)
		mapfile -t COMPREPLY < <(compgen -W "$("$tool" "$command" --help 2>/dev/null |
			grep -oE '^  (-[a-zA-Z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+')" -- "$cur")
		;;
	*)
		# after the options of record comes a command
		mapfile -t COMPREPLY < <(compgen -f -- "$cur"
			[ "$command" != record ] || [ "$prev" = -o ] || compgen -c -- "$cur")
		;;
	esac
}
complete -o filenames -F _trace_ustack trace-ustack
