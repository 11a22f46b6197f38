# SPDX-License-Identifier: MIT
# GPUHISTO_ACCEPTED_FLAGS(LANGUAGE, VARIABLE, FLAGS)
# Sets VARIABLE to those of FLAGS that the LANGUAGE's compiler takes without a complaint.
AC_DEFUN([GPUHISTO_ACCEPTED_FLAGS], [
    AC_LANG_PUSH([$1])
    gpuhisto_save_flags=$[]_AC_LANG_PREFIX[]FLAGS
    $2=
    for gpuhisto_flag in $3; do
        AC_MSG_CHECKING([whether the $1 compiler takes $gpuhisto_flag])
        _AC_LANG_PREFIX[]FLAGS="$gpuhisto_save_flags -Werror $gpuhisto_flag"
        AC_COMPILE_IFELSE([AC_LANG_SOURCE([[extern int unused;]])],
            [AC_MSG_RESULT([yes])
             AS_VAR_APPEND([$2], ["${$2:+ }$gpuhisto_flag"])],
            [AC_MSG_RESULT([no])])
    done
    _AC_LANG_PREFIX[]FLAGS=$gpuhisto_save_flags
    AC_LANG_POP([$1])
])

# GPUHISTO_SANITIZER
# --enable-sanitizer=LIST: substitutes SANITIZER_FLAGS, for compiling and linking alike.
AC_DEFUN([GPUHISTO_SANITIZER], [
    AC_ARG_ENABLE([sanitizer],
        [AS_HELP_STRING([--enable-sanitizer=LIST],
            [build for the compiler's sanitizers, for example address,undefined or thread])],
        [], [enable_sanitizer=no])
    SANITIZER_FLAGS=
    AS_CASE([$enable_sanitizer],
        [no], [],
        [yes], [AC_MSG_ERROR([--enable-sanitizer needs a list, like address,undefined or thread])],
        [SANITIZER_FLAGS="-fsanitize=$enable_sanitizer -fno-sanitize-recover=all -fno-omit-frame-pointer -g"
         AC_MSG_CHECKING([whether a program builds with $SANITIZER_FLAGS])
         gpuhisto_save_CFLAGS=$CFLAGS
         CFLAGS="$CFLAGS $SANITIZER_FLAGS"
         AC_LINK_IFELSE([AC_LANG_PROGRAM()],
             [AC_MSG_RESULT([yes])],
             [AC_MSG_RESULT([no])
              AC_MSG_ERROR([$CC cannot build with --enable-sanitizer=$enable_sanitizer])])
         # Of gcc, whose libraries are shared otherwise: a process, of which tests start many, begins in 3 ms less.
         gpuhisto_static="-static-libasan -static-libubsan"
         CFLAGS="$CFLAGS $gpuhisto_static"
         AS_IF([test "$enable_sanitizer" = address,undefined],
             [AC_LINK_IFELSE([AC_LANG_PROGRAM()], [AS_VAR_APPEND([SANITIZER_FLAGS], [" $gpuhisto_static"])])])
         CFLAGS=$gpuhisto_save_CFLAGS])
    AC_SUBST([SANITIZER_FLAGS])
    AM_CONDITIONAL([SANITIZED], [test -n "$SANITIZER_FLAGS"])
])

# GPUHISTO_EXACT(LANGUAGE, VARIABLE)
# Refuses compiler options that do not keep to IEEE arithmetic; VARIABLE (CFLAGS or CXXFLAGS) is
# where the message says they are. config.h's template knows the same macros.
AC_DEFUN([GPUHISTO_EXACT], [
    AC_LANG_PUSH([$1])
    AC_MSG_CHECKING([whether the $1 compiler keeps to IEEE arithmetic])
    gpuhisto_exact=yes
    # A compiler that does not work at all has no fault here; what needs it finds out.
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
            #if !(defined __FAST_MATH__ || defined __ASSOCIATIVE_MATH__ || defined __RECIPROCAL_MATH__ || \
                (defined __FINITE_MATH_ONLY__ && __FINITE_MATH_ONLY__))
            #error exact
            #endif]])],
        [gpuhisto_exact=no])
    # Not every compiler has a macro for each.
    for gpuhisto_flag in $[$2]; do
        AS_CASE([$gpuhisto_flag], [-ffast-math|-Ofast|-funsafe-math-optimizations|-fassociative-math|-freciprocal-math|-ffinite-math-only|-ffp-contract=fast*|-ffp-contract=on],
            [gpuhisto_exact=no])
    done
    AC_MSG_RESULT([$gpuhisto_exact])
    AS_IF([test "x$gpuhisto_exact" = xno],
        [AC_MSG_ERROR([$2="$[$2]": -ffast-math, -Ofast and the like give wrong counts; configure without them])])
    AC_LANG_POP([$1])
])
