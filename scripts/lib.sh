# Shared by the scripts of this directory; sourced, after "tree" is set to the root of the tree.
# Everything here is plain sh, since a bare machine has nothing else.

self=${0##*/}

# The package that gives what a probe names: a command, or a file when it begins with a slash.
base_packages='gcc=gcc libc6-dev=/usr/include/stdio.h g++=g++ make=make autoconf=autoconf
automake=automake libtool=libtoolize pkg-config=pkg-config'
test_packages="$base_packages check=/usr/include/check.h
libjansson-dev=/usr/include/jansson.h cmake=cmake clang=clang numactl=numactl spin=spin
iproute2=ip procps=ps libfabric-dev=/usr/include/rdma/fabric.h
libibverbs-dev=/usr/include/infiniband/verbs.h
mpich=mpiexec.hydra openmpi-bin=mpirun.openmpi
libpmix-dev=/usr/lib/*/pmix2/include/pmix.h"
# What tests do without, and say so.
optional_packages='libpng-dev=/usr/include/libpng16/png.h'
# A server for ssh is only for the hosts of tests/hosts; scripts/check alone installs none.
pass_packages="$test_packages openssh-client=ssh openssh-server=/usr/sbin/sshd libclang-rt-14-dev=/usr/lib/llvm-14/lib/clang/14*/lib/linux/libclang_rt.asan-x86_64.a
gcc-aarch64-linux-gnu=aarch64-linux-gnu-gcc g++-aarch64-linux-gnu=aarch64-linux-gnu-g++
libc6-dev-arm64-cross=/usr/aarch64-linux-gnu/include/stdio.h qemu-user-static=qemu-aarch64-static"

# For the virtual machines of tests/verbs, which skip without them.
guest_packages='qemu-system-x86=qemu-system-x86_64 busybox-static=busybox cpio=cpio xz-utils=xz perftest=ib_send_lat
ibverbs-providers=/usr/lib/*/libibverbs/librxe*.so'

say()
{
	printf '%s\n' "$self: $*"
}

# One clear line, and the end.
give_up()
{
	printf '%s\n' "$self: $*" >&2
	exit 1
}

# make_writable DIR...: they are there, and what is built can be written there.
make_writable()
{
	for directory; do
		mkdir -p "$directory" 2>/dev/null && [ -w "$directory" ] ||
			give_up "cannot write to $directory: is the tree another user's?"
	done
}

cpus()
{
	nproc 2>/dev/null || echo 1
}

seconds()
{
	date +%s
}

present()
{
	case $1 in
	/*)
		# a pattern: the first match must exist
		for match in $1; do
			[ -e "$match" ] && return 0
		done
		return 1
		;;
	*) command -v "$1" >/dev/null 2>&1 ;;
	esac
}

# missing_packages LIST: those whose probe finds nothing.
missing_packages()
{
	set -f
	set -- $1
	set +f
	for entry in "$@"; do
		present "${entry#*=}" || printf '%s ' "${entry%%=*}"
	done
}

# step LOG WHAT COMMAND...: COMMAND with its output in LOG; a line says how it goes.
step()
{
	step_log=$1 step_what=$2
	shift 2
	step_began=$(seconds)
	ticker=
	if [ -t 1 ]; then
		while :; do
			printf '\r\033[K%s: %s ... %d s  %.60s' "$self" "$step_what" \
				$(($(seconds) - step_began)) "$(tail -n 1 "$step_log" 2>/dev/null)"
			sleep 1
		done &
		ticker=$!
	else
		say "$step_what ..."
	fi
	step_status=0
	"$@" >"$step_log" 2>&1 </dev/null || step_status=$?
	if [ -n "$ticker" ]; then
		kill "$ticker" 2>/dev/null
		wait "$ticker" 2>/dev/null
		printf '\r\033[K'
	fi
	if [ "$step_status" -eq 0 ]; then
		say "$step_what: done in $(($(seconds) - step_began)) s"
	fi
	return "$step_status"
}

# As root, or through sudo where that asks nothing.
as_root()
{
	if [ "$(id -u)" -eq 0 ]; then
		env "$@"
	else
		sudo -n env "$@"
	fi
}

# In a shell of its own: no command after it may have the lock's file, nor its number, open.
apt_install()
(
	# one at a time, among the scripts of all trees of this user
	if command -v flock >/dev/null 2>&1; then
		exec 7>"${TMPDIR:-/tmp}/penstock-apt-$(id -u).lock" && flock 7
	fi
	as_root DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 update 7>&- &&
		as_root DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
			install --no-install-recommends "$@" 7>&-
)

# install_packages LIST: what is missing of it, asking nothing.
install_packages()
{
	wanted=$(missing_packages "$1")
	wanted=${wanted% }
	[ -n "$wanted" ] || return 0
	command -v apt-get >/dev/null 2>&1 ||
		give_up "missing here, and there is no apt-get to install it: $wanted"
	if [ "$(id -u)" -ne 0 ] && ! sudo -n true 2>/dev/null; then
		give_up "not root, so cannot install what is missing; have someone run: apt-get install $wanted"
	fi
	apt_log=$work/apt.log
	step "$apt_log" "installing $wanted" apt_install $wanted || give_up \
		"apt-get failed: $(grep -E '^(E|W|Err)' "$apt_log" | grep -v '^W: Download' | tail -n 1) (all of it: $apt_log)"
	wanted=$(missing_packages "$1")
	[ -z "$wanted" ] || give_up "installed, but still not found: $wanted(see $apt_log)"
}

# try_packages LIST: what is missing of it, if it can be installed here; goes on without the rest.
try_packages()
{
	(install_packages "$1") || say "goes on without $(missing_packages "$1")"
}

# configure_tree DIR OPTIONS...: configure DIR unless it was, with these options.
configure_tree()
{
	dir=$1
	shift
	mkdir -p "$dir"
	if [ ! -x "$tree/configure" ] || [ ! -f "$tree/build-aux/ltmain.sh" ]; then
		step "$dir/autogen.log" "making configure" "$tree/autogen.sh" ||
			show_and_give_up "$dir/autogen.log" "autogen.sh failed"
	fi
	if [ -f "$dir/Makefile" ] && [ "$(cat "$dir/.options" 2>/dev/null)" = "$tree $*" ]; then
		return 0
	fi
	(cd "$dir" && step configure.log "configuring" "$tree/configure" "$@") ||
		show_and_give_up "$dir/configure.log" "configure failed"
	echo "$tree $*" >"$dir/.options"
}

# build_tree DIR [TARGET...]: all, then the targets one after the other.
build_tree()
{
	dir=$1
	shift
	for target in all "$@"; do
		case $target in
		all) what=building ;;
		install) what=installing ;;
		*) what="building $target" ;;
		esac
		step "$dir/make-$target.log" "$what" make -C "$dir" -j"$(cpus)" "$target" ||
			show_and_give_up "$dir/make-$target.log" "$what failed"
	done
}

# show_and_give_up LOG TEXT
show_and_give_up()
{
	tail -n 30 "$1" | sed 's/^/    /' >&2
	give_up "$2; the whole of it: $1"
}

# count_results LOG: "PASSED FAILED SKIPPED" over all automake summaries in LOG; errors are failures.
count_results()
{
	awk '/^# (PASS|XFAIL): +[0-9]+$/ { passed += $3 }
		/^# (FAIL|ERROR|XPASS): +[0-9]+$/ { failed += $3 }
		/^# SKIP: +[0-9]+$/ { skipped += $3 }
		END { print passed + 0, failed + 0, skipped + 0 }' "$1" 2>/dev/null
}
