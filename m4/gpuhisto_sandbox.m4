# SPDX-License-Identifier: MIT
# GPUHISTO_SANDBOX
# --disable-sandbox; also sets sandbox_why, why there is none. After GPUHISTO_SANITIZER: what a
# sanitizer reads and runs to report an error is not what the sandbox allows.
AC_DEFUN([GPUHISTO_SANDBOX], [
    AC_ARG_ENABLE([sandbox],
        [AS_HELP_STRING([--disable-sandbox], [do not restrict what hostile input could do])],
        [], [enable_sandbox=yes])
    have_sandbox=yes
    AC_CHECK_HEADERS([linux/audit.h linux/filter.h linux/seccomp.h], [],
        [have_sandbox=no
         sandbox_why="needs the headers of Linux"])
    AS_IF([test "x$enable_sandbox" = xno],
        [have_sandbox=no
         sandbox_why="--disable-sandbox was given"])
    AS_IF([test -n "$SANITIZER_FLAGS"],
        [have_sandbox=no
         sandbox_why="--enable-sanitizer was given"])
    AS_IF([test "x$have_sandbox" = xyes],
        [AC_DEFINE([HAVE_SANDBOX], [1], [Define if the process is put into a sandbox])])
])
