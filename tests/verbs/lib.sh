# Sourced by the tests whose jobs run in virtual machines with an RDMA device (rdma-vm), after tests/lib/check.sh.
: "${PT_SLACK:=1}"

skip()
{
	echo "$*"
	exit 77
}

# guest SECONDS OPTIONS COMMAND...: in virtual machines; then $status, $work/out and $work/err are there.
guest()
{
	seconds=$(($1 * PT_SLACK)) options=$2
	shift 2
	status=0
	# shellcheck disable=SC2086 # options, one a word
	sh "$TEST_SRCDIR/tests/verbs/rdma-vm" --no-rw --timeout $seconds $options -- "$@" \
		>"$work/out" 2>"$work/err" </dev/null || status=$?
}

# passed WHAT PROGRAM...: of the last guest
passed()
{
	what=$1
	shift
	for program; do
		grep -q "^$program passed\$" "$work/out" && continue
		fail "$what: not all passed, status $status"
		return
	done
	echo "$what: $*"
}

# needs CONDUIT [SANITIZERS]: this build has it, and its programs; it has no sanitizers, or those; and virtual
# machines boot here.
needs()
{
	[ "${CHECK_VERBS:-yes}" != no ] || skip "CHECK_VERBS=no: another pass has them"
	[ -e "$TEST_BUILDDIR/.libs/penstock-$1.so" ] || skip "this build has no $1 conduit: configure says why"
	case $TEST_SANITIZERS in
	no | "${2-no}") ;;
	*) skip "not with sanitizers: an emulated processor is slow enough" ;;
	esac
	unset_settings
	guest 280 '' true
	[ "$status" -eq 0 ] || skip "no virtual machine here: $(tail -n 1 "$work/err")"
	PST_CONDUIT=$1 PST_PLUGIN_DIR=$TEST_BUILDDIR/.libs GASNET_SSH_CMD=/usr/local/bin/rdma-vm-rsh
	export PST_CONDUIT PST_PLUGIN_DIR GASNET_SSH_CMD TEST_BUILDDIR TEST_SRCDIR PT_SLACK
}
