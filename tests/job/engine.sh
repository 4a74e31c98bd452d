# Sourced by t_engine_hydra and t_engine_openmpi, after they have set
#
#   engine            the name that a rank gives it
#   engine_run N COMMAND...  starts a job of N ranks
#   engine_rank=REGEX  how the engine names a rank that was killed, with RANK in place of its number
#
# The jobs are those of t_exit_rules and t_kill, started by a process manager of others.
. "$(dirname "$0")/lib.sh"

# have COMMAND: a machine without the engine skips the test.
have()
{
	command -v "$1" >/dev/null 2>&1 && return
	echo "$1 is not installed"
	exit 77
}

# The engine itself takes its time to begin and to end; what is left is looked for after its end.
engine_wait()
{
	wait "$launcher" 2>/dev/null
	status=$?
	ended=$(now_ms)
	took_ms=$((ended - began))
	began=$ended
	nothing_left
}

# engine_job N COMMAND...
engine_job()
{
	engine_start "$@"
	began=$(now_ms)
	engine_wait
}

# engine_count N: how many ranks that is
engine_count() { echo "$1"; }

engine_start()
{
	what="$engine -n $*"
	checks=$((checks + 1))
	no_output
	engine_run "$@" >"$tmp/out" 2>"$tmp/err" </dev/null &
	launcher=$!
}

# The cause is named by the keeper, or by the engine, which may end everything before the keeper is heard.
expect_cause()
{
	grep -qE "rank $1 \(.*\) was killed, or ended|ranks .*\<$1\>.* were killed|$(echo "$engine_rank" | sed "s/RANK/$1/")" "$tmp/err" ||
		wrong "rank $1 is not named as the cause"
}

# keepers: those of this test's jobs.
keepers() { named penstock-keeper $(marked); }

# kill_engine_one WHO N WORDS...
kill_engine_one()
{
	who=$1 n=$2
	shift 2
	clear_files
	engine_start "$n" "$steps" "$@"
	wait_files at "$(engine_count "$n")" || { kill -KILL "$launcher"; engine_wait; return; }
	sleep 0.0$(($(date +%N | tail -c 4 | sed 's/^0*//; s/^$/0/') % 10))
	case $who in
	keeper) victim=$(keepers) ;;
	*) victim=$(pid_of at "$who") ;;
	esac
	what="kill $who: $what"
	hit
	kill -KILL $victim || wrong 'nothing to kill'
	engine_wait
	expect_within 3500
	expect_failure
	[ "$who" = keeper ] && expect_message "the job's keeper is gone" || expect_cause "$who"
}

terminal=$TEST_BUILDDIR/tests/job/on-terminal

# Where the host's own name cannot be looked up, some starts wait for name servers, 5 s at a time.
engine_need_quick_start()
{
	for turn in 1 2 3 4; do
		began=$(now_ms)
		engine_run 2 true >/dev/null 2>&1 </dev/null
		took_ms=$(($(now_ms) - began))
		if [ "$took_ms" -gt $((3000 * PT_SLACK)) ]; then
			echo "$engine takes $took_ms ms to run 'true' here; is this host's name in /etc/hosts?"
			exit 77
		fi
	done
}

# front_job N OPTIONS... -- COMMAND: by penstock-run, as a front of the engine --engine $front
front_job()
{
	ranks=$1
	shift
	job "$run" --engine "$front" -n "$ranks" "$@"
}

# front_reads R RANK LINE: what that rank reads with --stdin R
front_reads()
{
	what="--engine $front --stdin $1"
	printf 'one\n' | timeout 20 "$run" --engine "$front" -n 2 --stdin "$1" "$steps" init "$2@read" barrier leave=0 \
		>"$tmp/out" 2>"$tmp/err"
	expect_output "$3"
}

# front_tests: what penstock-run promises of a job is kept with this engine, or it says that it is not.
front_tests()
{
	front_job 3 "$steps" init 0@dump barrier memory leave=5
	expect_status 5
	grep -q "^started by: $engine\$" "$tmp/out" || wrong 'started by something else'
	grep -q '^rank 0 of 3,' "$tmp/out" || wrong 'another size'
	front_job 2 --hosts localhost -N 1 "$steps" init barrier leave=0
	expect_status 0
	front_job 2 --tag-output echo hi
	expect_status 0
	[ "$(grep -c '1[]:].*hi$' "$tmp/out")" = 1 ] || wrong 'no rank before its line'
	front_reads none 0 '0:end'
	front_reads 0 0 '0:one'
	MINE='a b' front_job 2 sh -c 'echo "$MINE in $(pwd)"'
	expect_output "a b in $(pwd)
a b in $(pwd)"
	front_job 2 --bind core "$steps" init barrier leave=0
	expect_status 0

	# The keepers end the job, with a report; a program that does not join is ended with the engine.
	need "$TEST_BUILDDIR/tests/job/hangs"
	front_job 3 --timeout 1.5 "$TEST_BUILDDIR/tests/job/hangs" barrier
	expect_status 124
	expect_message 'what the 3 ranks on .* do (the time is over)'
	expect_message 'penstock-run: the time limit of 1.5 s is over; the job ends'
	expect_within 7000
	front_job 2 --timeout 1 sleep 30
	expect_status 124
	expect_within 8000
	front_job 2 --timeout 30 "$steps" init barrier leave=3
	expect_status 3

	# Signals are the engine's; with a time limit they come from penstock-run.
	limits='1'
	[ "$CHECK_LEVEL" != long ] || limits='1 2'
	for way in $limits; do
		limit=
		[ $way = 1 ] || limit='--timeout 30'
		clear_files
		start "$run" --engine "$front" -n 2 $limit "$steps" init barrier touch="$tmp/at" spin=30
		wait_files at 2
		hit
		kill -TERM "$launcher"
		finish
		expect_failure
		clear_files
		job "$terminal" "^C@$tmp/at:2" -- "$run" --engine "$front" -n 2 $limit "$steps" init barrier \
			touch="$tmp/at" spin=30
		grep -q '^status [1-9]' "$tmp/out" || wrong 'Ctrl-C'
	done
}

engine_tests()
{
	engine_need_quick_start
	case $CHECK_LEVEL in
	long) counts="1 2 4 7" victims="0 1 2 3 keeper" ;;
	*) counts="1 4" victims="0 2 keeper" ;;
	esac
	case $sanitized in
	*thread*)
		echo 'not tried with ThreadSanitizer, which delays the signal that tells of it: the keeper killed'
		victims=${victims% keeper}
		;;
	esac

	# who started it, memory of all kinds, exchange
	for n in $counts; do
		engine_job $n "$steps" init 0@dump barrier memory exchange=100 barrier leave=0
		expect_status 0
		expect_silence
		grep -q "^started by: $engine\$" "$tmp/out" || wrong 'started by something else'
		grep -q "^rank 0 of $n," "$tmp/out" || wrong 'another size'
	done
	for kind in posix sysv mmap; do
		PST_SHM=$kind
		export PST_SHM
		engine_job 3 "$steps" init barrier memory leave=0
		expect_status 0
	done
	unset PST_SHM

	# the ends of a job: all ranks, then one
	engine_job 3 "$steps" init barrier leave=5
	expect_status 5
	engine_job 3 "$steps" init barrier exit=0
	expect_status 0
	expect_silence
	engine_job 3 "$steps" init barrier
	expect_status 0
	# the keeper says it before ranks end, since an engine may read nothing after that
	engine_job 3 "$steps" say-end init barrier exit=3
	expect_status 3
	expect_message 'exit(3)'
	grep -e 'exit(3)' -e 'the rank ends' "$tmp/err" | head -n 1 | grep -q 'exit(3)' || wrong 'the line comes late'
	engine_job 3 "$steps" init barrier 1@leave=9 sleep=30
	expect_status 9
	expect_message 'rank 1 .*gasnet_exit(9) while ranks 0, 2 had not asked to end'
	# the library itself, with SIGQUIT ignored, as in what a shell starts in the background
	engine_job 3 sh -c 'trap "" QUIT; exec "$0" 1 gasnet_exit=5 waiting' "$TEST_BUILDDIR/tests/job/member"
	expect_status 5
	engine_job 3 "$steps" init barrier 1@leave=0 spin=30
	expect_status 0
	engine_job 3 "$steps" init barrier 2@exit=4 block-all ignore=3 sleep=30
	expect_failure
	expect_message 'rank 2 .*exit(4) while ranks 0, 1 had not asked to end'
	engine_job 3 "$steps" init barrier 0@exit=0 sleep=30
	expect_status 0
	engine_job 3 "$steps" init barrier 1@quick-exit=0 sleep=30
	expect_failure
	expect_cause 1
	engine_job 3 "$steps" init barrier 1@quick-exit=7 sleep=30
	expect_failure
	engine_job 3 "$steps" init barrier close-all 1@leave=6 sleep=30
	expect_status 6
	# a rank that is stopped does not keep the others
	engine_job 3 "$steps" init barrier 1@kill=19 2@leave=3 sleep=30
	expect_status 3

	for who in $victims; do
		kill_engine_one $who 4 init barrier touch="$tmp/at" spin=30
		kill_engine_one $who 4 init barrier touch="$tmp/at" 1@sleep=30 barrier
	done
	PST_TEST_DENY=pidfd
	export PST_TEST_DENY
	kill_engine_one 1 4 init barrier touch="$tmp/at" sleep=30
	case $victims in
	*keeper) kill_engine_one keeper 2 init barrier touch="$tmp/at" sleep=30 ;;
	esac
	unset PST_TEST_DENY

	# The keeper holds no descriptor of the rank that has forked it, on a kernel without close_range too.
	for deny in pidfd pidfd,close_range; do
		clear_files
		PST_TEST_DENY=$deny engine_start 2 sh -c 'exec 7>"$1/held"; exec "$2" init barrier touch="$1/at" until="$1/go" leave=0' \
			sh "$tmp" "$steps"
		wait_files at 2
		[ -e "/proc/$(pid_of at 0)/fd/7" ] || wrong 'the rank has no descriptor 7'
		[ -e "/proc/$(keepers)/fd/2" ] || wrong 'the keeper has no standard error'
		[ ! -e "/proc/$(keepers)/fd/7" ] || wrong "the keeper holds a rank's descriptor ($deny)"
		hit
		touch "$tmp/go"
		engine_wait
		expect_status 0
		rm -f "$tmp/go"
	done

	# The engine dies, and all that it has started.
	clear_files
	engine_start 3 "$steps" init barrier touch="$tmp/at" sleep=30
	wait_files at 3
	parent=$(sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$(pid_of at 0)/stat")
	hit
	kill -KILL "$launcher" "$parent" 2>/dev/null
	engine_wait

	# ... and while ranks wait for one that has not come yet
	clear_files
	printf '%s\n' 'mkdir "$1" 2>/dev/null && exec "$2" sleep=1.5' \
		'exec "$2" touch="$3" init barrier leave=0' >"$tmp/one_late"
	engine_start 3 sh "$tmp/one_late" "$tmp/first" "$steps" "$tmp/at"
	wait_files at 1
	sleep 0.3
	parent=$(sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$(cat "$tmp"/at.*| head -n 1)/stat")
	hit
	kill -KILL "$launcher" "$parent" 2>/dev/null
	engine_wait
	expect_failure
	rmdir "$tmp/first" || wrong 'the ranks did not start'

	# settings, and input of a user
	for try in 1 2 3 4 5; do
		PST_SHM=tape engine_job 4 "$steps" init leave=0
		expect_status 2
		expect_message 'PST_SHM=tape: expected memfd, posix, sysv or mmap'
	done
	engine_job 2 "$steps" init 'system=test -z "${PMI_FD-}${PMI_PORT-}"' barrier leave=0
	expect_status 0
	GASNET_PSHM_NODES=2 engine_job 2 "$steps" init barrier leave=0
	expect_status 0
	expect_message "GASNET_PSHM_NODES=2 starts a job of this process alone; .*$engine"
	engine_job 2 "$run" -n 2 "$steps" init barrier 0@dump leave=0
	expect_status 0
	grep -q 'started by: penstock-run' "$tmp/out" || wrong 'the launcher within an engine'
	engine_job 2 sh -c "exec $steps init barrier leave=0 <&-"
	expect_status 0
	engine_job 2 sh -c "$steps init barrier leave=0; exit \$?"
	expect_status 0

	engine_job 2 sh -c "$steps init barrier 0@part=0 sleep=0.5 leave=0; exit \$?"
	expect_status 0
	expect_silence

	# ranks that do not share memory
	if unshare -i true 2>/dev/null; then
		printf '%s\n' 'mkdir "$1" 2>/dev/null && exec "$2" init memory leave=0' \
			'exec unshare -i "$2" init memory leave=0' >"$tmp/one_apart"
		PST_NET_IFACE=lo engine_job 3 sh "$tmp/one_apart" "$tmp/first" "$steps"
		rmdir "$tmp/first" || wrong 'the ranks did not start'
		expect_status 0
	else
		echo 'not tried, for lack of rights: ranks on two hosts'
	fi

	# two jobs at once
	clear_files
	engine_start 2 "$steps" init barrier=20000 memory leave=0
	first=$launcher
	engine_run 2 "$steps" init barrier memory leave=0 >"$tmp/out2" 2>&1 </dev/null || wrong 'the second job'
	launcher=$first
	engine_wait
	expect_status 0

	# clients
	for program in examples/hello examples/ring tests/conformance/am_payload-seq.pt \
		tests/conformance/coll_reduce-par.pt tests/conformance/put_signal-par.pt \
		tests/conformance/rma_threads-par.pt; do
		[ -x "$TEST_BUILDDIR/$program" ] || continue
		for n in $counts; do
			[ $n != 1 ] || [ "$CHECK_LEVEL" != quick ] || continue
			engine_job $n "$TEST_BUILDDIR/$program"
			expect_status 0
			! grep -q 'a job of one rank' "$tmp/err" || wrong 'no job'
		done
	done
}
