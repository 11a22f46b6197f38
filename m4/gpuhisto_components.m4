# SPDX-License-Identifier: MIT
# GPUHISTO_YES_OR_NO(LIBRARY)
# Refuses any other value of --with-LIBRARY; pkg-config, CPPFLAGS and LDFLAGS say where a library is.
AC_DEFUN([GPUHISTO_YES_OR_NO], [
    AS_CASE([$with_$1], [yes|no], [],
        [AC_MSG_ERROR([--with-$1=$with_$1: takes no folder; use PKG_CONFIG_PATH, or CPPFLAGS and LDFLAGS])])
])

# GPUHISTO_PKG_CONFIG(MODULE)
# Where pkg-config knows MODULE, adds the folders that it names, for headers to CPPFLAGS and for libraries
# to LIBS. The checks that follow decide. The user's PKG_CONFIG and PKG_CONFIG_PATH count.
AC_DEFUN([GPUHISTO_PKG_CONFIG], [
    AC_REQUIRE([_GPUHISTO_PKG_CONFIG])
    AC_MSG_CHECKING([for $1 by pkg-config])
    AS_IF([test -n "$PKG_CONFIG" && $PKG_CONFIG --exists $1 2>&AS_MESSAGE_LOG_FD],
        [gpuhisto_found=`$PKG_CONFIG --modversion $1`
         gpuhisto_cflags=`$PKG_CONFIG --cflags $1`
         gpuhisto_folders=`$PKG_CONFIG --libs-only-L $1`
         AC_MSG_RESULT([$gpuhisto_found $gpuhisto_cflags $gpuhisto_folders])
         CPPFLAGS="$CPPFLAGS${gpuhisto_cflags:+ }$gpuhisto_cflags"
         LIBS="$gpuhisto_folders${gpuhisto_folders:+ }$LIBS"],
        [AC_MSG_RESULT([no])])
])
AC_DEFUN([_GPUHISTO_PKG_CONFIG], [
    AC_ARG_VAR([PKG_CONFIG], [pkg-config, or a program like it])
    AC_PATH_TOOL([PKG_CONFIG], [pkg-config])
])

# GPUHISTO_COMPONENT(NAME, HEADER, MACROS)
# Adds NAME:VERSION to SBOM_COMPONENTS, which is substituted: what the program is linked with, for the
# list that `make` writes. The version is that of the HEADER that it is compiled with, the values of
# MACROS with dots between them.
AC_DEFUN([GPUHISTO_COMPONENT], [
    AC_MSG_CHECKING([for the version of $1])
    AC_LANG_CONFTEST([AC_LANG_SOURCE([[
        #include <$2>
        gpuhisto_version $3]])])
    gpuhisto_version=`$CC -E -P $CPPFLAGS conftest.$ac_ext 2>&AS_MESSAGE_LOG_FD |
        sed -n 's/^ *gpuhisto_version *\(.*@<:@0-9@:>@\) *$/\1/p' | tr ' ' .`
    AC_MSG_RESULT([${gpuhisto_version:-unknown}])
    AS_VAR_APPEND([SBOM_COMPONENTS], [" $1:$gpuhisto_version"])
    AC_SUBST([SBOM_COMPONENTS])
])
