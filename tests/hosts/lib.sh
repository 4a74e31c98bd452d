# Read by the tests over several hosts. `rig_up N' makes hosts h1 to hN on this machine (README.md),
# which end with the test; `rig COMMAND...' is hosts-rig for them, and `on HOST COMMAND...' runs a
# command there, ended after 60 s.
. "$(dirname "$0")/../lib/check.sh"
: "${PT_SLACK:=1}"

# Rigs of tests that run at once have different names, so they do not meet. The build tree is seen by all
# hosts, also below /tmp.
HOSTS_RIG_NAME=pt$$
HOSTS_RIG_STATE=$work/rig
HOSTS_RIG_SHARE=$TEST_BUILDDIR:$TEST_SRCDIR:$work
export HOSTS_RIG_NAME HOSTS_RIG_STATE HOSTS_RIG_SHARE

rig()
{
	bash "$TEST_SRCDIR/tests/hosts/hosts-rig" "$@"
}

# skip WHY: ends the test as one that cannot run here.
skip()
{
	echo "$*"
	exit 77
}

# need COMMAND=PACKAGE...: skips where one is missing.
need()
{
	for pair; do
		PATH=$PATH:/usr/sbin:/sbin command -v "${pair%%=*}" >/dev/null ||
			skip "no ${pair%%=*} here; install ${pair#*=}"
	done
}

# rig_up N: hosts h1 to hN are there.
rig_up()
{
	[ "$(id -u)" -eq 0 ] || skip "only root can make namespaces for several hosts"
	need bash=bash ip=iproute2 unshare=util-linux nsenter=util-linux setpriv=util-linux hostname=hostname
	[ -e /etc/hosts ] && [ -e /etc/hostname ] ||
		skip "no /etc/hosts or /etc/hostname here, over which hosts lay their own"
	unshare --net --uts --ipc --mount --pid --fork true 2>"$work/err" ||
		skip "no namespaces here: $(head -n 1 "$work/err")"
	trap 'rig down; exit 1' HUP INT TERM
	trap 'rig down; [ -n "${TEST_TMPDIR:-}" ] || rm -rf "$work"' EXIT
	rig up "$1" >"$work/out" 2>"$work/err" || { fail "the hosts do not start"; verdict; }
}

# on HOST COMMAND...: then $status, $work/out and $work/err are there.
on()
{
	host=$1
	shift
	status=0
	timeout -k 5 $((60 * PT_SLACK)) bash "$TEST_SRCDIR/tests/hosts/hosts-rig" exec "$host" -- "$@" \
		>"$work/out" 2>"$work/err" </dev/null || status=$?
}

# expect STATUS WHAT: of the last `on'.
expect()
{
	[ "$status" -eq "$1" ] || fail "$2: status $status, not $1"
}
