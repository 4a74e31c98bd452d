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
	AC_CONFIG_FILES([include/gasnet_config.h])
])
