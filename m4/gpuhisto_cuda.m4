# SPDX-License-Identifier: MIT
# GPUHISTO_CUDA
# Looks for a CUDA toolkit that can build the GPU engine.  Substitutes NVCC, CUDA_GENCODE,
# NVCC_HOST_FLAGS, CUDA_CPPFLAGS and CUDA_LIBS, and sets the conditional HAVE_CUDA.  For the
# summary: have_cuda, and cuda_version and cuda_archs or else cuda_why.
AC_DEFUN([GPUHISTO_CUDA], [
    AC_ARG_VAR([NVCC], [CUDA compiler])
    AC_ARG_VAR([NVCCFLAGS], [CUDA compiler flags])
    AC_ARG_VAR([CUDA_CPPFLAGS], [preprocessor flags for CUDA sources only])
    AC_ARG_WITH([cuda],
        [AS_HELP_STRING([--with-cuda@<:@=DIR@:>@],
            [build the GPU engine with the CUDA toolkit in DIR; without DIR it must be in
             CUDA_HOME, CUDA_PATH, /usr/local/cuda or PATH @<:@default: if one is found@:>@])],
        [], [with_cuda=auto])
    AC_ARG_WITH([cuda-arch],
        [AS_HELP_STRING([--with-cuda-arch=LIST],
            [GPU architectures to compile for @<:@"75 80 86 89 90 100 120"@:>@])],
        [], [with_cuda_arch=default])

    # Each step leaves a reason in cuda_why where it fails, and is skipped when there is one.
    cuda_why=
    AS_IF([test "x$with_cuda" = xno], [cuda_why="--without-cuda was given"])
    AS_IF([test -z "$cuda_why" && test "x$ac_cv_c_bigendian" = xyes],
        [cuda_why="the kernels are for little-endian machines, this one is big-endian"])
    AS_IF([test -z "$cuda_why"], [_GPUHISTO_CUDA_EXACT])
    AS_IF([test -z "$cuda_why"], [_GPUHISTO_CUDA_NVCC])
    AS_IF([test -z "$cuda_why"], [_GPUHISTO_CUDA_ARCHS])
    AS_IF([test -z "$cuda_why"], [_GPUHISTO_CUDA_BUILDS])

    AS_IF([test -z "$cuda_why"], [have_cuda=yes],
        [have_cuda=no
         AS_CASE([$with_cuda], [auto|no], [], [AC_MSG_ERROR([--with-cuda: $cuda_why])])
         AS_CASE([$with_cuda_arch], [default], [],
             [AC_MSG_ERROR([--with-cuda-arch needs CUDA: $cuda_why])])])
    AC_SUBST([CUDA_GENCODE])
    AC_SUBST([CUDA_LIBS])
    AC_SUBST([NVCC_HOST_FLAGS])
    AM_CONDITIONAL([HAVE_CUDA], [test "x$have_cuda" = xyes])
])

# Refuses flags for nvcc that do not keep to IEEE arithmetic.
AC_DEFUN([_GPUHISTO_CUDA_EXACT], [
    AS_CASE([" $NVCCFLAGS "],
        [*use_fast_math*|*" -ftz=true "*|*"--ftz=true "*|*"-prec-div=false "*|*"-prec-sqrt=false "*],
        [AC_MSG_ERROR([NVCCFLAGS="$NVCCFLAGS": fast math gives wrong counts; configure without it])])
])

# Finds NVCC, and cuda_version.  A DIR may also be a site-packages folder with NVIDIA's wheels.
AC_DEFUN([_GPUHISTO_CUDA_NVCC], [
    AC_MSG_CHECKING([for nvcc])
    AS_CASE([$with_cuda],
        [auto|yes], [cuda_dirs="$CUDA_HOME $CUDA_PATH /usr/local/cuda"],
        [cuda_dirs="$with_cuda $with_cuda/nvidia/cu*"])
    AS_IF([test -z "$NVCC"], [
        for cuda_dir in $cuda_dirs; do
            AS_IF([test -x "$cuda_dir/bin/nvcc"],
                [NVCC=`cd "$cuda_dir/bin" && pwd`/nvcc
                 break])
        done
        AS_CASE([$with_cuda], [auto|yes],
            [test -n "$NVCC" || NVCC=`command -v nvcc`])])
    AS_IF([test -z "$NVCC"],
        [AC_MSG_RESULT([no])
         AS_CASE([$with_cuda],
             [auto|yes], [cuda_why="no nvcc found; ./bootstrap --cuda gets one"],
             [cuda_why="no bin/nvcc in $with_cuda"])],
        [AC_MSG_RESULT([$NVCC])
         AC_MSG_CHECKING([for the version of CUDA])
         cuda_version=`$NVCC --version 2>&AS_MESSAGE_LOG_FD | sed -n 's/.*release \(@<:@0-9.@:>@*\).*/\1/p'`
         AC_MSG_RESULT([${cuda_version:-unknown}])
         AS_CASE([$cuda_version],
             [''], [cuda_why="$NVCC does not tell its version"],
             [@<:@0-9@:>@.*|1@<:@01@:>@.*],
             [cuda_why="$NVCC is $cuda_version, not 12 or newer; ./bootstrap --cuda gets one"])])
])

# Chooses cuda_archs, those of the list that NVCC knows, and CUDA_GENCODE. Without --with-cuda-arch the
# list is gpuhisto_archs, which bootstrap gives, or all.
AC_DEFUN([_GPUHISTO_CUDA_ARCHS], [
    AC_MSG_CHECKING([for GPU architectures])
    AS_IF([test "x$with_cuda_arch" = xdefault],
        [cuda_list=${gpuhisto_archs-75 80 86 89 90 100 120}],
        [cuda_list=`AS_ECHO(["$with_cuda_arch"]) | tr ',;' '  '`])
    cuda_known=" "`$NVCC --list-gpu-code 2>&AS_MESSAGE_LOG_FD | sed -n 's/^sm_\(@<:@0-9@:>@*\)$/\1/p' | tr '\n' ' '`
    cuda_archs=
    cuda_unknown=
    cuda_newest=0
    CUDA_GENCODE=
    for cuda_arch in $cuda_list; do
        AS_CASE([$cuda_known],
            [*" $cuda_arch "*],
            [AS_VAR_APPEND([cuda_archs], ["${cuda_archs:+ }$cuda_arch"])
             AS_VAR_APPEND([CUDA_GENCODE], ["-gencode=arch=compute_$cuda_arch,code=sm_$cuda_arch "])
             AS_IF([test "$cuda_arch" -gt "$cuda_newest"], [cuda_newest=$cuda_arch])],
            [AS_VAR_APPEND([cuda_unknown], [" $cuda_arch"])])
    done
    # The newest as PTX too, which the driver compiles for GPUs that are newer still.
    AS_VAR_APPEND([CUDA_GENCODE], ["-gencode=arch=compute_$cuda_newest,code=compute_$cuda_newest"])
    AC_MSG_RESULT([$cuda_archs])
    AS_IF([test -z "$cuda_archs"],
        [cuda_why="$NVCC knows none of the architectures $cuda_list, only$cuda_known"],
        [test -n "$cuda_unknown" && test "x$with_cuda_arch" != xdefault],
        [AC_MSG_WARN([$NVCC does not know:$cuda_unknown, only:$cuda_known])])
])

# Compiles a kernel with NVCC, links it with CC, and starts the program, which makes no CUDA call.
# Sets NVCC_HOST_FLAGS and CUDA_LIBS.
AC_DEFUN([_GPUHISTO_CUDA_BUILDS], [
    cat >conftest_cuda.cu <<_ACEOF
__global__ void kernel(int *value) { atomicAdd(value, 1); }
extern "C" int launch(void) {
    kernel<<<1, 1>>>(nullptr);
    return cudaDeviceSynchronize();
}
_ACEOF

    # The code needs neither exceptions nor RTTI, and without them CC links it without libstdc++.
    # A host compiler is named to nvcc only when the one that it picks by itself will not do: first
    # CXX or CC, then older ones of GNU that are installed, as nvcc refuses those newer than itself.
    AC_MSG_CHECKING([whether $NVCC compiles])
    cuda_compiles=no
    for cuda_ccbin in '' $CXX $CC g++-15 g++-14 g++-13 g++-12 g++-11 g++-10; do
        test -z "$cuda_ccbin" || command -v $cuda_ccbin >/dev/null 2>&1 || continue
        NVCC_HOST_FLAGS="${cuda_ccbin:+-ccbin=$cuda_ccbin }-Xcompiler=-fno-exceptions,-fno-rtti,-fno-threadsafe-statics${gpuhisto_pie:+,-fPIE}"
        cuda_command="$NVCC -std=c++17 -arch=sm_$cuda_newest $CUDA_CPPFLAGS $NVCC_HOST_FLAGS $NVCCFLAGS -c -o conftest_cuda.o conftest_cuda.cu"
        AS_ECHO(["$as_me:${as_lineno-$LINENO}: $cuda_command"]) >&AS_MESSAGE_LOG_FD
        AS_IF([$cuda_command >conftest.err 2>&1], [cuda_compiles=yes])
        cat conftest.err >&AS_MESSAGE_LOG_FD
        test "x$cuda_compiles" = xno || break
        test -n "$cuda_ccbin" || cuda_error=`grep -i -E 'error|fatal' conftest.err | sed 1q`
    done
    AS_IF([test "x$cuda_compiles" = xyes],
        [AC_MSG_RESULT([yes${cuda_ccbin:+, with -ccbin=$cuda_ccbin}])],
        [AC_MSG_RESULT([no])
         AS_CASE([$cuda_error],
             [*unsupported*version*],
             [cuda_error=`AS_ECHO(["$cuda_error"]) | sed 's/ *The nvcc flag.*//; s/.*unsupported/unsupported/'`
              cuda_why="$NVCC cannot use this C++ compiler ($cuda_error); install an older one, for example g++-12, which is then found by its name"],
             [cuda_why="$NVCC cannot compile a kernel (${cuda_error:-see config.log})"])])

    AS_IF([test -z "$cuda_why"], [
        AC_MSG_CHECKING([how to link libcudart_static])
        # nvcc's own idea of its place: the command may be a wrapper, or a package's link.
        # NVIDIA's wheels say lib64 where they have lib.
        $NVCC --dryrun -c conftest_cuda.cu >conftest_cuda.dry 2>&1
        cuda_dirs=`sed -n 's/^#\$ LIBRARIES=//p' conftest_cuda.dry | tr -d '"' | sed 's/-L//g'`
        cuda_dirs="$cuda_dirs `sed -n 's/^#\$ TOP=//p' conftest_cuda.dry`/lib"
        cuda_cudart=-lcudart_static
        for cuda_dir in $cuda_dirs; do
            AS_IF([test -r "$cuda_dir/libcudart_static.a"],
                [cuda_cudart=`cd "$cuda_dir" && pwd`/libcudart_static.a
                 break])
        done
        cuda_links=no
        gpuhisto_save_LIBS=$LIBS
        for cuda_system in '' "-lpthread -ldl -lrt"; do
            CUDA_LIBS="$cuda_cudart${cuda_system:+ $cuda_system}"
            LIBS="conftest_cuda.o $CUDA_LIBS $gpuhisto_save_LIBS"
            AC_LINK_IFELSE([AC_LANG_PROGRAM([[int launch(void);]],
                    [[static int volatile never; return never ? launch() : 0;]])],
                [cuda_links=yes
                 AS_IF([test "x$cross_compiling" != xyes],
                     [AC_RUN_IFELSE([], [], [cuda_links=crash], [:])])])
            test "x$cuda_links" = xno || break
        done
        LIBS=$gpuhisto_save_LIBS
        AS_CASE([$cuda_links],
            [yes], [AC_MSG_RESULT([$CUDA_LIBS])],
            [crash], [AC_MSG_RESULT([no])
                      cuda_why="a program linked with $CUDA_LIBS does not start"],
            [AC_MSG_RESULT([no])
             cuda_why="$CC cannot link a kernel with $CUDA_LIBS (see config.log)"])])
    rm -f conftest_cuda.*
])
