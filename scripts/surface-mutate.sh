# surface-check --mutate [PATTERN]; sourced. Every call of the interface in the conformance programs
# is compiled as a choice: if SURFACE_OFF is the function's number, nothing happens, its arguments
# are not evaluated and its value is zero; else the call. Then the programs run, for one function
# after the other, and a function whose absence none of them notices is listed. Several jobs at a time,
# since most mutants hang, asleep, until their deadline. tests/data/surface-noops names the functions that
# may have no effect at all.
. "$tree/scripts/surface-tested.sh" >/dev/null 2>&1
pattern=${1:-.}
ranks=${SURFACE_RANKS:-3}

# The extensions have no rows in the table: what their headers declare, under pst_.
grep -ho '\bpst_[a-z_0-9]*(' "$tree"/include/penstock*.h | tr -d '(' | sort -u |
	sed 's/$/,function,penstock.h,extension/' >"$work/extensions"
cat "$work/extensions" >>"$work/demanded"
cut -d, -f1 "$work/extensions" >>"$work/present"

# What this library has as macros, functions of the specification among them.
printf '#include <gasnetex.h>\n#include <gasnet_tools.h>\n' |
	$cc -D_GNU_SOURCE -DGASNET_PAR $includes -dM -E -x c - |
	awk '$1 == "#define" { print $2 }' >"$work/defined"
sed 's/(.*//' "$work/defined" >"$work/macros"

# The functions, numbered by line: number,name,kind,area
awk -F, -v pattern="$pattern" '
	FILENAME ~ /called$/ { called[$1]; next }
	FILENAME ~ /macros$/ { macro[$1]; next }
	FILENAME ~ /present$/ { there[$1]; next }
	FILENAME ~ /surface-noops$/ { sub(/:.*/, ""); noop[$0]; next }
	($2 == "function" || $2 == "macro") && $1 in called && $1 in there && !($1 in noop) &&
		$1 ~ pattern { print ++n "," $1 "," ($1 in macro ? "macro" : $2) "," $4 }' \
	"$work/called" "$work/macros" "$work/present" FS=: "$tree/tests/data/surface-noops" FS=, "$work/demanded" \
	>"$work/functions"

# A function is wrapped under its own name. A macro is taken away whole, in a build of its own.
wrappers()
{
	cat <<-'END'
		#include <gasnet.h>
		#include <gasnet_tools.h>
		#include <gasnet_mk.h>
		#include <penstock.h>
		#include <penstock_upc_coll.h>
		#include <stdlib.h>
		#define SURFACE_NOTHING(call) __extension__ ({ \
			__typeof__(call) surface_none; \
			__builtin_memset(&surface_none, 0, sizeof surface_none); \
			surface_none; \
		})
		static inline int surface_off(int number)
		{
			static int off;
			const char *text;

			if (off == 0)
				off = (text = getenv("SURFACE_OFF")) != NULL ? atoi(text) : -1;
			return off == number;
		}
	END
	awk -F, '
		$3 == "macro" { next }
		# those that return a struct
		$2 ~ /^(gex_TM_TranslateRankToEP|gasnet_get_nb_val|pst_token_source)$/ ||
		$2 ~ /^pst_(sem_ref|sem_ref_make|sem_ref_owner|sem_set_ref|signal_sem|signal_word)$/ {
			zero[$2] = "SURFACE_NOTHING(" $2 "(__VA_ARGS__))"
		}
		!($2 in zero) { zero[$2] = "(__typeof__(" $2 "(__VA_ARGS__)))0" }
		{ print "#define " $2 "(...) (surface_off(" $1 ") ? " zero[$2] " : " $2 "(__VA_ARGS__))" }
		' "$work/functions"
}

# without NAME: a header in which the macro does nothing
without()
{
	echo '#include <gasnet.h>'
	echo '#include <gasnet_tools.h>'
	echo "#undef $1"
	if grep -qx "$1" "$work/defined"; then
		echo "#define $1 0"
		return
	fi
	case $1 in
	*BLOCKUNTIL) echo "#define $1(...) do { } while (0)" ;;
	*Commit*_v2) echo "#define $1(...) ((int)0)" ;;
	*Commit*) echo "#define $1(...) ((void)0)" ;;
	if_p[ft]) echo "#define $1(...) if (0)" ;;
	*atomic*_init) echo "#define $1(...) {0}" ;;
	GASNETT_VALUE_RETURN) echo "#define $1(...) return 0" ;;
	*) echo "#define $1(...) ((int)0)" ;;
	esac
}

# build PROGRAM FILE HEADER: with the harness; its main is for programs that have none.
build()
{
	mutated="-w -O1 -D_GNU_SOURCE -DGASNET_PAR -I$tree $includes -include $3"
	case $2 in
	*.cc) $cxx $mutated -c "$2" -o "$1.o" ;;
	*) $cc -std=gnu11 $mutated -c "$2" -o "$1.o" ;;
	esac || return
	harness=$(ls "$tree"/tests/lib/*.c)
	if nm "$1.o" | grep -q ' T main$'; then
		harness=$(printf '%s\n' "$harness" | grep -v '/pt_misuse_main.c$')
	fi
	$cc -std=gnu11 $mutated "$1.o" -x c $harness -x none \
		"$build/libgasnet-smp-par.a" -lpthread -lm -lstdc++ -o "$1"
}

# job PROGRAM SECONDS NUMBER: one run with a deadline
cat >"$work/job" <<'END'
cd "$(dirname "$1")" && SURFACE_OFF=$3 PT_DEADLINE=$2 timeout -k 2 $(($2 + 2)) "$1" </dev/null >"$1.$3.out" 2>&1
status=$?
rm -f "$1.$3.out"
exit $status
END
CHECK_LEVEL=quick GASNET_PSHM_NODES=$ranks
export CHECK_LEVEL GASNET_PSHM_NODES

# The programs that call one of them and pass as they are, by the time they take: milliseconds,
# program, file.
wrappers >"$work/wrappers.h"
mkdir "$work/bin"
for file in $SURFACE_PROGRAMS; do
	program=$work/bin/$(basename "$file" | tr . _)
	calls_of "$file" | sort -u >"$program.calls"
	cut -d, -f2 "$work/functions" | grep -qxF -f - "$program.calls" || continue
	if ! build "$program" "$file" "$work/wrappers.h" 2>"$work/build.log"; then
		head -5 "$work/build.log" >&2
		echo "surface-check: $file does not build with wrapped calls" | tee -a "$work/left_out" >&2
		continue
	fi
	began=$(date +%s%N)
	if sh "$work/job" "$program" 20 0; then
		echo "$((($(date +%s%N) - began) / 1000000)) $program $file"
	else
		echo "surface-check: $file does not pass by itself and is left out" >&2
	fi
done | sort -n >"$work/baseline"

# unnoticed NUMBER,NAME,KIND,AREA: prints the function unless some program fails without it
cat >"$work/unnoticed" <<'END'
IFS=, read -r number name kind area <<END_OF_LINE
$2
END_OF_LINE
while read -r took program file; do
	grep -qx "$name" "$program.calls" || continue
	if [ "$kind" = macro ]; then program=$program.$name; fi
	[ -x "$program" ] || continue
	sh "$1/job" "$program" $((took * 4 / 1000 + 2)) "$number" || exit 0
done <"$1/baseline"
echo "$area	$name"
END
while IFS=, read -r number name kind area; do
	[ "$kind" = macro ] || continue
	without "$name" >"$work/without.h"
	while read -r took program file; do
		if grep -qx "$name" "$program.calls"; then
			build "$program.$name" "$file" "$work/without.h" 2>/dev/null </dev/null
		fi
	done <"$work/baseline"
done <"$work/functions"

# without_each JOBS LIST: prints those functions of the list that no program misses
without_each()
{
	xargs -P "$1" -d '\n' -I '{}' sh "$work/unnoticed" "$work" '{}' <"$2"
}

# What the processor reorders, and so what a fence is for, shows only where ranks run at one time: what
# nothing noticed among ten jobs is tried again alone.
without_each 10 "$work/functions" >"$work/survivors"
for try in 1 2 3 4 5; do
	[ -s "$work/survivors" ] || break
	cut -f2 "$work/survivors" >"$work/again_names"
	awk -F, 'NR == FNR { again[$1]; next } $2 in again' "$work/again_names" "$work/functions" >"$work/again"
	without_each 1 "$work/again" >"$work/survivors"
done
sort "$work/survivors"
echo "$(wc -l <"$work/functions") functions taken away one by one," \
	"$(wc -l <"$work/survivors") not missed by any program"
[ ! -s "$work/survivors" ] && [ ! -e "$work/left_out" ]
