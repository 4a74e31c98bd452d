# Sourced by the job tests.  `job' runs a job and gives it 10 s; then the test says what it expects of status,
# output, messages and time.  Processes that a job leaves behind are found by a variable in their environment.
. "$(dirname "$0")/../lib/check.sh"
: "${PT_SLACK:=1}"
run=$TEST_BUILDDIR/penstock-run
gasnetrun=$TEST_BUILDDIR/gasnetrun_smp
steps=$TEST_BUILDDIR/tests/job/steps
tmp=$work
checks=0 what=
JOB_MARK=job-mark-$$-$(date +%s%N)
export JOB_MARK
mkdir -p "$tmp/files"
TMPDIR=$tmp/files
export TMPDIR
unset GASNET_PSHM_NODES PST_JOB_RANK PST_JOB_SIZE PST_JOB_CONTROL PST_JOB_FILES PST_TEST_DENY
unset PST_TEST_HANDOVER PST_DEATH_SIGNAL

sanitized=${TEST_SANITIZERS:-no}
[ "$sanitized" != no ] || sanitized=
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}$spare_signals
TSAN_OPTIONS=${TSAN_OPTIONS:+$TSAN_OPTIONS:}$spare_signals
export ASAN_OPTIONS TSAN_OPTIONS

now_ms() { echo $(($(date +%s%N) / 1000000)); }

wrong() { fail "$what: $*"; }

# job COMMAND...: runs it; then $status, $took_ms, $tmp/out and $tmp/err are there.
job()
{
	what=$*
	checks=$((checks + 1))
	began=$(now_ms)
	timeout -k 1 $((10 * PT_SLACK)) "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	took_ms=$(($(now_ms) - began))
	nothing_left
}

# job_within MS COMMAND...: a job that takes no longer. A limit near what it takes is held against the best of three
# tries, since the machine may do something else for a while.
job_within()
{
	within=$1
	shift
	for try in 1 2 3; do
		job "$@"
		[ "$took_ms" -gt $((within * PT_SLACK)) ] || break
	done
	expect_within "$within"
}

# start COMMAND...: the same in the background; then `finish'.
start()
{
	what=$*
	checks=$((checks + 1))
	no_output
	"$@" >"$tmp/out" 2>"$tmp/err" </dev/null &
	launcher=$!
}

# no_output: what is waited for in the output of a job to come is not found in that of the last one.
no_output()
{
	: >"$tmp/out"
	: >"$tmp/err"
}

# hit: the fault happens now.
hit() { began=$(now_ms); }

finish()
{
	limit=$(($(now_ms) + 10000 * PT_SLACK))
	while alive=$(state_of "$launcher"); [ "${alive:-Z}" != Z ] && [ "$(now_ms)" -lt "$limit" ]; do
		sleep 0.02
	done
	if [ "${alive:-Z}" != Z ]; then
		wrong "still there after 10 s"
		kill -KILL $(marked) "$launcher" 2>/dev/null
	fi
	wait "$launcher" 2>/dev/null
	status=$?
	took_ms=$(($(now_ms) - began))
	nothing_left
}

state_of()
{
	{ read -r line <"/proc/$1/stat"; } 2>/dev/null || return 0
	set -- ${line##*) }
	echo "$1"
}

# The processes of this test's jobs, zombies apart; the test's own tools carry the mark as well.
marked()
{
	for environ in $(grep -lsz "^JOB_MARK=$JOB_MARK\$" /proc/[0-9]*/environ); do
		pid=${environ#/proc/}
		pid=${pid%/environ}
		[ "$pid" != $$ ] || continue
		case $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null) in
		*steps* | */storm-[sp]* | *penstock-run* | *gasnetrun* | *sleep* | *sh\ -c*)
			[ "$(state_of "$pid")" = Z ] || echo "$pid" ;;
		esac
	done 2>/dev/null
}

# need FILE: a test without its programs ends at once.
need()
{
	[ -x "$1" ] && return
	echo "$1 is not built"
	exit 99
}
need "$run"
need "$steps"

# Within 2 s of the fault all is gone, or soon after a launcher that took longer.
nothing_left()
{
	limit=$((began + 2000 * PT_SLACK)) soon_after=$(($(now_ms) + 1000 * PT_SLACK))
	[ "$limit" -gt "$soon_after" ] || limit=$soon_after
	while left=$(marked); [ -n "$left" ] && [ "$(now_ms)" -lt "$limit" ]; do
		sleep 0.02
	done
	if [ -n "$left" ]; then
		wrong "processes left: $(for pid in $left; do
			echo "$pid ($(tr '\0' ' ' <"/proc/$pid/cmdline"))"; done)"
		kill -KILL $left 2>/dev/null
	fi
	rm -f "$tmp"/files/tsan.rodata.* # of ThreadSanitizer, in a process killed as it starts
	[ -z "$(ls -A "$tmp/files")" ] || wrong "files left: $(ls -A "$tmp/files")"
}

uid=$(id -u)
marked_files="/dev/shm/penstock-$uid $TMPDIR/penstock-$uid"

# The segments of a job's making have the library's mark in their key.
marked_segments() { awk '$1 ~ /^-?[0-9]+$/ && int($1 / 65536) == 20563 { print $2 }' /proc/sysvipc/shm; }

# What is left of SysV segments for good: jobs of other tests have some while they start.
segments_left()
{
	for i in 1 2 3 4 5 6 7 8 9 10; do
		left=$(marked_segments)
		[ -n "$left" ] || return 0
		sleep 0.2
	done
	wrong "SysV segments left: $left"
}

# For a test that is alone: no shared memory of any kind is left.
no_memory_left()
{
	for path in $marked_files; do
		[ ! -e "$path" ] || wrong "left: $(ls -d "$path" "$path"/*)"
	done
	segments_left
}

expect_status() { [ "$status" = "$1" ] || wrong "status $status, expected $1"; }
expect_failure() { [ "$status" != 0 ] || wrong "status 0, expected a failure"; }
# Lines of output, sorted.
expect_output() { [ "$(sort "$tmp/out")" = "$1" ] || wrong "other output than \"$1\""; }
expect_message() { grep -q -- "$1" "$tmp/err" || wrong "no message with \"$1\""; }
expect_silence() { [ ! -s "$tmp/err" ] || wrong "messages where none is due"; }
expect_one_line()
{
	[ "$(wc -l <"$tmp/err")" -eq 1 ] || wrong "$(wc -l <"$tmp/err") lines of messages, expected 1"
}
expect_within() { [ "$took_ms" -le $(($1 * PT_SLACK)) ] || wrong "took $took_ms ms, over $1"; }

# wait_files PREFIX COUNT: until that many ranks have touched PREFIX.<rank>.
wait_files()
{
	limit=$(($(now_ms) + 5000 * PT_SLACK))
	while [ "$(ls "$tmp" | grep -c "^$1\\.")" -lt "$2" ]; do
		if [ "$(now_ms)" -ge "$limit" ]; then
			wrong "ranks did not come as far as $1"
			return 1
		fi
		sleep 0.02
	done
}

# wait_message TEXT: until a message has it.
wait_message()
{
	limit=$(($(now_ms) + 5000 * PT_SLACK))
	until grep -q -- "$1" "$tmp/err"; do
		if [ "$(now_ms)" -ge "$limit" ]; then
			wrong "no message with \"$1\""
			return 1
		fi
		sleep 0.02
	done
}

pid_of() { cat "$tmp/$1.$2" 2>/dev/null || echo none; }

# What the first thread of a process has started.
children_of()
{
	children=
	{ read -r children <"/proc/$1/task/$1/children"; } 2>/dev/null || :
	echo "$children"
}

# named NAME PID...: those of that name.
named()
{
	name=$1
	shift
	for pid; do
		comm=
		{ read -r comm <"/proc/$pid/comm"; } 2>/dev/null || :
		[ "$comm" != "$name" ] || echo "$pid"
	done
}

# Guard and keeper of a launcher: its child, and the child's.
guard_of() { named penstock-guard $(children_of "$1"); }

keeper_of()
{
	parent=$(guard_of "$1")
	found=$(named penstock-keeper $(children_of "${parent:-$1}"))
	echo "${found:-none}"
}

clear_files() { rm -f "$tmp"/at.* "$tmp/go"; }

summary()
{
	echo "$checks jobs, $failures wrong"
	[ "$failures" -eq 0 ] && [ "$checks" -gt 0 ]
	exit
}
