# SPDX-License-Identifier: MIT
# GPUHISTO_HARDENING
# What distributions compile programs with, so that a mistake in one of them is harder to exploit;
# each flag is tried first.  Substitutes HARDENING_CPPFLAGS, HARDENING_CFLAGS (for C and C++ alike)
# and HARDENING_LDFLAGS, and FIBER_CFLAGS for code that switches stacks by itself.  Nothing is added for a sanitizer, which sees more by itself.  To be called
# after GPUHISTO_SANITIZER.  For the summary: gpuhisto_hardening.
AC_DEFUN([GPUHISTO_HARDENING], [
    AC_ARG_ENABLE([hardening],
        [AS_HELP_STRING([--disable-hardening],
            [build without PIE, RELRO, stack protector, FORTIFY and CET @<:@default: what the compiler has@:>@])],
        [], [enable_hardening=yes])
    AS_IF([test -n "$SANITIZER_FLAGS"], [enable_hardening="no: --enable-sanitizer was given"])
    HARDENING_CPPFLAGS=
    HARDENING_CFLAGS=
    HARDENING_LDFLAGS=
    FIBER_CFLAGS=
    AS_IF([test "x$enable_hardening" = xyes], [
        _GPUHISTO_FORTIFY
        gpuhisto_stack=-fstack-protector-strong
        AS_CASE([" $CFLAGS "], [*" -fno-stack-protector "*], [gpuhisto_stack=])
        # The last two are for jumps and returns: those of x86 and those of Arm.
        GPUHISTO_ACCEPTED_FLAGS([C], [HARDENING_CFLAGS],
            [$gpuhisto_stack -fstack-clash-protection -fcf-protection=full -mbranch-protection=standard])
        # A shadow stack knows only of calls and returns, so a program with such code must not ask for one.
        AS_CASE([" $HARDENING_CFLAGS "],
            [*" -fcf-protection=full "*], [FIBER_CFLAGS=-fcf-protection=branch])
        _GPUHISTO_LINKED([HARDENING_LDFLAGS], [-Wl,-z,relro -Wl,-z,now])
        _GPUHISTO_LINKED([gpuhisto_pie], [-pie], [-fPIE])
        AS_IF([test -n "$gpuhisto_pie"],
            [AS_VAR_APPEND([HARDENING_CFLAGS], [" -fPIE"])
             AS_VAR_APPEND([HARDENING_LDFLAGS], [" -pie"])])
        enable_hardening="yes: $HARDENING_CPPFLAGS $HARDENING_CFLAGS $HARDENING_LDFLAGS"])
    gpuhisto_hardening=$enable_hardening
    AC_SUBST([HARDENING_CPPFLAGS])
    AC_SUBST([HARDENING_CFLAGS])
    AC_SUBST([HARDENING_LDFLAGS])
    AC_SUBST([FIBER_CFLAGS])
])

# Sets HARDENING_CPPFLAGS to the highest level of FORTIFY that libc has with this compiler and these
# CFLAGS, unless the user has chosen one.
AC_DEFUN([_GPUHISTO_FORTIFY], [
    AC_MSG_CHECKING([for the level of _FORTIFY_SOURCE])
    gpuhisto_level=none
    AS_CASE(["$CPPFLAGS $CFLAGS"],
        [*_FORTIFY_SOURCE*], [gpuhisto_level="the user's"],
        [gpuhisto_save_CFLAGS=$CFLAGS
         for gpuhisto_try in 3 2; do
             gpuhisto_fortify="-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$gpuhisto_try"
             CFLAGS="-O2 $gpuhisto_save_CFLAGS -Werror $gpuhisto_fortify"
             # glibc says in this macro what is left of the level; other libcs do not have it.
             AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
                     #include <stdio.h>
                     #if !defined __OPTIMIZE__ || (defined __USE_FORTIFY_LEVEL && __USE_FORTIFY_LEVEL < _FORTIFY_SOURCE)
                     #error "not at this level"
                     #endif]])],
                 [gpuhisto_level=$gpuhisto_try
                  HARDENING_CPPFLAGS=$gpuhisto_fortify
                  break])
         done
         CFLAGS=$gpuhisto_save_CFLAGS])
    AC_MSG_RESULT([$gpuhisto_level])
])

# _GPUHISTO_LINKED(VARIABLE, LDFLAGS, [CFLAGS])
# Sets VARIABLE to those of LDFLAGS with which a program links, and starts if it can be tried here.
AC_DEFUN([_GPUHISTO_LINKED], [
    $1=
    gpuhisto_save_LDFLAGS=$LDFLAGS
    gpuhisto_save_CFLAGS=$CFLAGS
    for gpuhisto_flag in $2; do
        AC_MSG_CHECKING([whether programs link with $gpuhisto_flag])
        LDFLAGS="$gpuhisto_save_LDFLAGS $gpuhisto_flag"
        CFLAGS="$gpuhisto_save_CFLAGS $3 -Werror"
        gpuhisto_links=no
        AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <stdio.h>]], [[return fputs("", stdout) < 0;]])],
            [gpuhisto_links=yes
             AS_IF([test "x$cross_compiling" != xyes],
                 [AC_RUN_IFELSE([], [], [gpuhisto_links=no], [:])])])
        AC_MSG_RESULT([$gpuhisto_links])
        AS_IF([test "x$gpuhisto_links" = xyes], [AS_VAR_APPEND([$1], ["${$1:+ }$gpuhisto_flag"])])
    done
    LDFLAGS=$gpuhisto_save_LDFLAGS
    CFLAGS=$gpuhisto_save_CFLAGS
])
