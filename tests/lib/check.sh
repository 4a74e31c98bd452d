# Sourced by the tests that are scripts: where things are, what has failed, and the end.
#
#   $TEST_SRCDIR, $TEST_BUILDDIR   from tests/run-test, or found
#   $work                          a directory of the test's own, which is removed
#   fail TEXT...                   something is not as it should be: says so, with $work/out and $work/err
#   verdict                        ends the test
#
# By hand: TEST_BUILDDIR=<build directory> tests/unit/t_info
set -u

: "${TEST_SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${TEST_BUILDDIR:=$(pwd)}"
: "${CHECK_LEVEL:=full}"
: "${TEST_SANITIZERS:=no}"
if [ -n "${TEST_TMPDIR:-}" ]; then
	work=$TEST_TMPDIR
else
	work=$(mktemp -d "${TMPDIR:-/tmp}/penstock-test.XXXXXX") || exit 99
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM
fi
failures=0

# For ASAN_OPTIONS and TSAN_OPTIONS: the sanitizers take these signals for themselves unless told not to.
spare_signals=handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigfpe=0:handle_sigill=0

fail()
{
	failures=$((failures + 1))
	echo "WRONG: $*"
	for said in out err; do
		[ ! -s "$work/$said" ] || sed "s/^/    $said: /" "$work/$said" | head -n 20
	done
}

verdict()
{
	[ "$failures" -eq 0 ] && exit 0
	echo "$failures wrong"
	exit 1
}

# The settings of whoever runs the test are not its own.
unset_settings()
{
	for name in $(env | sed -n 's/^\(\(PST\|GASNET\)_[A-Z_]*\)=.*/\1/p'); do
		unset "$name"
	done
}
