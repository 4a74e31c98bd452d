# What the parts of surface-check share; sourced with tree set.
set -u

build=${TEST_BUILDDIR:-$(pwd)}
if [ ! -e "$build/libgasnet-smp-par.a" ]; then
	echo "surface-check: no library in $build; set TEST_BUILDDIR to a build" >&2
	exit 2
fi
work=$(mktemp -d "${TEST_TMPDIR:-${TMPDIR:-/tmp}}/surface.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cc=${TEST_CC:-gcc}
cxx=${TEST_CXX:-g++}
includes="-I$tree/include -I$build/include -I$build/include/smp-conduit"
combinations='SEQ:c PARSYNC:c PAR:c SEQ:cc PARSYNC:cc PAR:cc'
if [ "${CHECK_LEVEL:-full}" = quick ]; then combinations=PAR:cc; fi

# The compilers name the option that reports all errors differently.
case $($cc --version 2>/dev/null) in
*clang*) all_errors=-ferror-limit=0 ;;
*) all_errors=-fmax-errors=0 ;;
esac

lower()
{
	echo "$1" | tr A-Z a-z
}

# The demanded names as name,kind,header,area; meanings may hold commas, and come last.
awk -F, '$6 == "yes" { print $1 "," $2 "," $3 "," $4 }' \
	"$tree/tests/data/surface.csv" "$tree/tests/data/surface-extra.csv" >"$work/demanded"

# includes_of HEADER: what a client writes to get at its names, one header a line
includes_of()
{
	case $1 in
	gasnet_fwd.h | gasnet_portable_platform.h) echo "$1" ;;
	gasnetex.h) echo "$1" ;;
	*) echo gasnetex.h; echo "$1" | tr + '\n' ;;
	esac
}

# probe HEADER MODE COMPILER SUFFIX: append to $work/absent what is not there in this combination.
probe()
{
	file=$work/probe.$4
	flags="-w -D_GNU_SOURCE -DGASNET_$2 $includes"
	includes_of "$1" | sed 's/.*/#include <&>/' >"$file"
	cat >>"$file" <<-'END'
		#ifdef __cplusplus
		#define FN(f) (reinterpret_cast<fn>(f))
		extern "C" {
		#else
		#define FN(f) ((fn)(f))
		#endif
		typedef void (*fn)(void);
	END
	if ! $3 $flags -dM -E "$file" >"$work/macros" 2>/dev/null; then
		awk -F, -v header="$1" '$3 == header { print $1 }' "$work/demanded" >>"$work/absent"
		return
	fi
	awk '{ sub(/\(.*/, "", $2); print $2 }' "$work/macros" >"$work/defined"

	# One line per name that is no macro; what it needs to be tells how it is used.
	head=$(wc -l <"$file")
	awk -F, -v header="$1" '
		FILENAME == ARGV[1] { macro[$1]; next }
		$3 != header || $1 in macro { next }
		{ n++ }
		$2 == "type" { print "typedef " $1 " t" n ";"; next }
		$2 == "function" { print "void f" n "(void) { volatile fn f = FN(" $1 "); (void)f; }"; next }
		$1 ~ /^[a-z]/ { print "const volatile void *v" n " = &" $1 ";"; next }
		$2 == "constant" { print "enum { e" n " = sizeof(" $1 ") };"; next }
		{ print "#error " $1 " is no macro" }' "$work/defined" "$work/demanded" >"$work/lines"
	awk -F, -v header="$1" 'FILENAME == ARGV[1] { macro[$1]; next }
		$3 == header && !($1 in macro) { print $1 }' "$work/defined" "$work/demanded" >"$work/names"
	closing='int main(void) { return 0; }
#ifdef __cplusplus
}
#endif'
	{ cat "$file" "$work/lines"; echo "$closing"; } >"$file.all"
	mv "$file.all" "$file.all.$4"
	library="$build/libgasnet-smp-$(lower "$2").a -lpthread -lm"
	if $3 $flags $all_errors -O0 "$file.all.$4" -o "$work/probe" $library 2>"$work/errors"; then
		return
	fi
	sed -n "s|^$file.all.$4:\([0-9]*\):.*error.*|\1|p" "$work/errors" | sort -un |
		awk -v head="$head" '{ print $1 - head }' >"$work/bad"
	awk 'FILENAME == ARGV[1] { bad[$1]; next } FNR in bad' "$work/bad" "$work/names" >>"$work/absent"
	awk 'FILENAME == ARGV[1] { bad[$1]; next } !(FNR in bad)' "$work/bad" "$work/lines" >"$work/good"
	{ cat "$file"; cat "$work/good"; echo "$closing"; } >"$file.good.$4"

	if ! $3 $flags -O0 "$file.good.$4" -o "$work/probe" $library 2>"$work/link"; then
		# the name itself, or the inline function by which it is declared
		sed -n "s/.*in function .\([A-Za-z0-9_]*\)'.*/\1/p; \
			s/.*undefined reference to .\([A-Za-z0-9_]*\)'.*/\1/p" "$work/link" |
			sort -u | awk -F, 'FILENAME == ARGV[1] { demanded[$1]; next } $1 in demanded' \
			"$work/demanded" - >"$work/undefined"
		cat "$work/undefined" >>"$work/absent"
		cat "$work/undefined" >>"$work/unlinked"
		if [ ! -s "$work/undefined" ]; then
			head -20 "$work/link" >&2
			echo "surface-check: the probe for $1 does not build" >&2
			exit 1
		fi
	fi
}

# find_present: into $work/present the names that are there in every mode and language. A caller
# that asks several times names a file in SURFACE_CACHE.
find_present()
{
	if [ -n "${SURFACE_CACHE:-}" ] && [ -e "$SURFACE_CACHE" ]; then
		cp "$SURFACE_CACHE" "$work/present"
		return
	fi
	: >"$work/absent"
	: >"$work/unlinked"
	for header in $(cut -d, -f3 "$work/demanded" | sort -u); do
		missing_header=
		for part in $(echo "$header" | tr + ' '); do
			[ -e "$tree/include/$part" ] || missing_header=$part
		done
		if [ -n "$missing_header" ]; then
			awk -F, -v header="$header" '$3 == header { print $1 }' \
				"$work/demanded" >>"$work/absent"
			continue
		fi
		for combination in $combinations; do
			case $combination in
			*:c) probe "$header" "${combination%:*}" "$cc" c ;;
			*) probe "$header" "${combination%:*}" "$cxx" cc ;;
			esac
		done
	done
	awk -F, 'FILENAME == ARGV[1] { absent[$1]; next } !($1 in absent) { print $1 }' \
		"$work/absent" "$work/demanded" >"$work/present"
	if [ -n "${SURFACE_CACHE:-}" ]; then cp "$work/present" "$SURFACE_CACHE"; fi
}
