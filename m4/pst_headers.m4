# What the installed headers, fragments and package files are told by configure.

AC_DEFUN([PST_PUBLIC_HEADERS], [
	PENSTOCK_VERSION_MAJOR=${PACKAGE_VERSION%%.*}
	PENSTOCK_VERSION_PATCH=${PACKAGE_VERSION##*.}
	pst_rest=${PACKAGE_VERSION#*.}
	PENSTOCK_VERSION_MINOR=${pst_rest%%.*}
	AC_SUBST([PENSTOCK_VERSION_MAJOR])
	AC_SUBST([PENSTOCK_VERSION_MINOR])
	AC_SUBST([PENSTOCK_VERSION_PATCH])
	AC_SUBST([enable_shared])
	PST_COMPILER_NAMES
	PST_CONFIGURE_ARGS=`printf '%s' "$ac_configure_args" | sed "s/'//g; s/[[\\\\\"]]/\\\\&/g"`
	AC_SUBST([PST_CONFIGURE_ARGS])
	AC_CONFIG_FILES([include/gasnet_config.h])
])

# How gasnet_portable_platform.h calls the compiler that is used here. Nothing is run.
AC_DEFUN([PST_COMPILER_NAMES], [
	AC_MSG_CHECKING([what the public headers call the compiler])
	for pst_name in FAMILYID ID VERSION IDSTR; do
		pst_value=`{ echo '#include "gasnet_portable_platform.h"'; echo "PLATFORM_COMPILER_$pst_name"; } |
			$CC -E -P -I"$srcdir/include" - 2>/dev/null | tail -n 1`
		AS_CASE([$pst_name:$pst_value],
			[IDSTR:*], [PST_COMPILER_IDSTR=`echo "$pst_value" | sed 's/" *"//g; s/"//g'`],
			[FAMILYID:*], [PST_COMPILER_FAMILYID=$pst_value],
			[ID:*], [PST_COMPILER_ID=$pst_value],
			[PST_COMPILER_VERSION="$pst_value"])
	done
	AC_MSG_RESULT([$PST_COMPILER_IDSTR])
	AS_IF([test "x$PST_COMPILER_ID" = x],
		[AC_MSG_ERROR([$CC -E cannot read include/gasnet_portable_platform.h])])
	AC_SUBST([PST_COMPILER_FAMILYID])
	AC_SUBST([PST_COMPILER_ID])
	AC_SUBST([PST_COMPILER_VERSION])
	AC_SUBST([PST_COMPILER_IDSTR])
])
