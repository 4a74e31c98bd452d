# What the header tests share; sourced.
. "$(dirname "$0")/../lib/check.sh"

source_includes="-I$TEST_SRCDIR/include -I$TEST_BUILDDIR/include -I$TEST_BUILDDIR/include/smp-conduit"
strict_c='-Wall -Wextra -Wpedantic -Wundef -Wshadow -Wcast-qual -Wconversion -Werror'
strict_cxx="$strict_c -Wold-style-cast"
modes='SEQ PARSYNC PAR'

skip()
{
	echo "skipped: $*"
	exit 77
}

finish() { verdict; }

# compilers C|CXX: those of gcc and clang that are here; in a build with sanitizers its own, since
# each compiler has a runtime of its own for them
compilers()
{
	case $TEST_SANITIZERS:$1 in
	no:C) set -- gcc clang ;;
	no:CXX) set -- g++ clang++ ;;
	*:C) set -- ${TEST_CC:-gcc}; set -- "$1" ;;
	*:CXX) set -- ${TEST_CXX:-g++}; set -- "$1" ;;
	esac
	for cc; do
		if command -v "$cc" >/dev/null 2>&1; then echo "$cc"; fi
	done
}

# sampled C|CXX: the same, but one at level quick, for C another than for C++
sampled()
{
	case $CHECK_LEVEL:$1 in
	quick:C) compilers C | head -n 1 ;;
	quick:CXX) compilers CXX | tail -n 1 ;;
	*) compilers "$1" ;;
	esac
}

lower()
{
	echo "$1" | tr A-Z a-z
}

# words WORD...: the words of both sides of a comparison, one blank apart, as a shell reads them
words()
{
	echo "$*" | xargs
}

# run_all FILE: the command lines of FILE, two at a time, up to the first that fails.
run_all()
{
	if ! xargs -P 2 -d '\n' -I '{}' sh -c \
		'out=$({} 2>&1) || { printf "%s\n%s\n" "$0" "$out" | head -30; exit 255; }' '{}' <"$1"
	then
		fail "some of $(wc -l <"$1") compiler runs, shown above"
	fi
}

# install_moved: install this build into $work/moved, which is not where it was configured for.
install_moved()
{
	if ! make -s -C "$TEST_BUILDDIR" install DESTDIR="$work/stage" >"$work/install.log" 2>&1; then
		tail -20 "$work/install.log"
		echo "FAILED: make install"
		exit 1
	fi
	prefix=$(sed -n 's/^prefix = //p' "$TEST_BUILDDIR/Makefile")
	mv "$work/stage$prefix" "$work/moved"
	rm -rf "$work/stage"
	moved=$work/moved
}
