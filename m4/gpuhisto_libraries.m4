# SPDX-License-Identifier: MIT
# GPUHISTO_LIBRARIES
# --disable-loaded-libraries: libraries that only some runs need (src/base/library.h) are linked, and not
# loaded when they are needed. Substitutes LOADED_LDFLAGS, with which a program is not linked with those
# that it does not call directly. Not with a sanitizer, which sees more of what is linked.
AC_DEFUN([GPUHISTO_LIBRARIES], [
    AC_ARG_ENABLE([loaded-libraries],
        [AS_HELP_STRING([--disable-loaded-libraries], [link with libraries that only some runs need])],
        [], [enable_loaded_libraries=yes])
    LOADED_LDFLAGS=
    gpuhisto_loaded=$enable_loaded_libraries
    AC_CHECK_TOOL([READELF], [readelf])
    AS_IF([test -n "$SANITIZER_FLAGS" || test -z "$READELF"], [gpuhisto_loaded=no])
    AS_IF([test "x$gpuhisto_loaded" = xyes],
        [AC_SEARCH_LIBS([dlopen], [dl], [], [gpuhisto_loaded=no])
         _GPUHISTO_LINKED([LOADED_LDFLAGS], [-Wl,--as-needed])])
    AS_IF([test -z "$LOADED_LDFLAGS"], [gpuhisto_loaded=no])
    _GPUHISTO_LIBRARY([zstd], [zstd.h], [ZSTD_createDCtx], [LIBZSTD_FILE])
    AS_IF([test "x$have_isal" = xyes],
        [_GPUHISTO_LIBRARY([isal], [isa-l/igzip_lib.h], [isal_inflate_init], [LIBISAL_FILE])])
    AS_IF([test "x$have_pcre2" = xyes],
        [_GPUHISTO_LIBRARY([pcre2-8], [pcre2.h], [pcre2_compile_8], [LIBPCRE2_FILE])])
    AS_IF([test "x$gpuhisto_loaded" = xyes],
        [AC_DEFINE([LIBRARIES_ARE_LOADED], [1],
            [Define to 1 if libraries that only some runs need are loaded by these.])],
        [LOADED_LDFLAGS=])
    AC_SUBST([LOADED_LDFLAGS])
])

# _GPUHISTO_LIBRARY(NAME, HEADER, FUNCTION, MACRO)
# Defines MACRO to the name of the file that the loader finds libNAME in: that with which a program is
# linked. If there is none, as it was linked statically, no library is loaded.
AC_DEFUN([_GPUHISTO_LIBRARY], [
    AS_IF([test "x$gpuhisto_loaded" = xyes],
        [AC_MSG_CHECKING([for the file of lib$1])
         gpuhisto_file=
         AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <$2>]],
                 [[void (*volatile call)(void) = (void (*)(void))$3; return !call;]])],
             [gpuhisto_file=`$READELF -d conftest$EXEEXT | tr '@<:@@:>@' '  ' |
                 awk '/NEEDED/ && $NF ~ /^lib$1\.so/ { print $NF }'`])
         AC_MSG_RESULT([${gpuhisto_file:-none}])
         AC_DEFINE_UNQUOTED([$4], ["$gpuhisto_file"], [The file of lib$1.])
         AS_IF([test -z "$gpuhisto_file"], [gpuhisto_loaded=no])])
])
