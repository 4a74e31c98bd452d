# surface-check --tested [AREA...]; sourced. Reads call sites after the preprocessor has made them,
# so that names pasted together count, and macros by the preprocessor's own record of what it
# expanded, which gcc alone keeps.

command -v g++ >/dev/null 2>&1 || { echo "surface-check: --tested needs gcc and g++" >&2; exit 1; }

# calls_of FILE: the names that a conformance program calls
calls_of()
{
	compiler=gcc
	case $1 in *.cc) compiler=g++ ;; esac
	$compiler -E -dU -D_GNU_SOURCE -DGASNET_PAR -I"$tree" $includes "$1" 2>/dev/null | awk '
		/^# [0-9]+ "/ { own = $3 ~ /\/tests\/(conformance|lib)\//; next }
		/^#define / { sub(/\(.*/, "", $2); print $2; next }
		own {
			while (match($0, /[A-Za-z_][A-Za-z0-9_]*[ \t]*\(/)) {
				name = substr($0, RSTART, RLENGTH - 1)
				sub(/[ \t]+$/, "", name)
				print name
				$0 = substr($0, RSTART + RLENGTH)
			}
		}'
}

find_present
: "${SURFACE_PROGRAMS:=$(ls "$tree"/tests/conformance/*.c "$tree"/tests/conformance/*.cc)}"
for file in $SURFACE_PROGRAMS; do
	calls_of "$file"
done | sort -u >"$work/called"

areas=${*:-all}
awk -F, -v areas=" $areas " '
	FILENAME ~ /called$/ { called[$1]; next }
	FILENAME ~ /present$/ { there[$1]; next }
	$2 != "function" && !($2 == "macro" && $4 ~ /^(core|am)$/) { next }
	areas != " all " && index(areas, " " $4 " ") == 0 { next }
	$1 in there { total++; if ($1 in called) tested++; else print $4 "\t" $1 > "/dev/stderr" }
	END { printf "%d functions there, %d called by conformance programs\n", total, tested
		exit total != tested }' "$work/called" "$work/present" "$work/demanded"
