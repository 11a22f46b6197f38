# SPDX-License-Identifier: MIT
# GPUHISTO_REPRODUCIBLE
# Has `make dist` pack the same bits wherever, whenever and by whom it is run: names are sorted, and
# owners, permissions and times are the same (release/source_date says which time).  Substitutes
# PREFIX_MAP_FLAGS, which keep the folders of a build out of what it makes.  To be called after
# AM_INIT_AUTOMAKE, whose command for archives it replaces.
AC_DEFUN([GPUHISTO_REPRODUCIBLE], [
    AC_MSG_CHECKING([whether tar makes the same archive of the same files])
    gpuhisto_tar="--format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r-w,a-s,a+X"
    AS_IF([${TAR-tar} $gpuhisto_tar --mtime=@0 -chf /dev/null "$srcdir/m4" 2>&AS_MESSAGE_LOG_FD],
        [AC_MSG_RESULT([yes])
         am__tar='$${TAR-tar} '$gpuhisto_tar' --mtime=@`$(SHELL) $(srcdir)/release/source_date $(srcdir)` -chf - "$$tardir"'],
        [AC_MSG_RESULT([no: times and owners in it will differ])])

    # A source has the same name whether configure was called by a relative name or an absolute one. Of
    # the folders that fit the last one holds, and the build's is often within that of the sources. The
    # absolute names may have spaces.
    PREFIX_MAP_FLAGS=
    GPUHISTO_ACCEPTED_FLAGS([C], [gpuhisto_prefix_map], [-ffile-prefix-map=unused=.])
    AS_IF([test -n "$gpuhisto_prefix_map"],
        [PREFIX_MAP_FLAGS='-ffile-prefix-map=$(srcdir)/= "-ffile-prefix-map=$(abs_srcdir)/=" "-ffile-prefix-map=$(abs_builddir)=."'])
    AC_SUBST([PREFIX_MAP_FLAGS])
])
