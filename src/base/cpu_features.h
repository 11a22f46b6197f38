/* SPDX-License-Identifier: MIT */
/* Instructions of this processor. */
#ifndef GPUHISTO_CPU_FEATURES_H
#define GPUHISTO_CPU_FEATURES_H

#include <stdbool.h>

/* cpu_has(NAME, "name"): true if programs can use these instructions of x86-64. NAME is glibc's,
 * "name" the compiler's. glibc has asked already. The compiler asks once more, some thirty times,
 * which in a virtual machine takes a twentieth of the time in which a small file is counted, as the
 * hypervisor answers. What GLIBC_TUNABLES masks is not used. */
#if defined __has_include
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#ifdef CPU_FEATURE_ACTIVE /* since 2.34; it would expand NAME */
#define cpu_has(NAME, name) cpu_is_active(x86_cpu_##NAME)

/* As glibc's x86_cpu_active, which shifts a bit to where a signed number has its sign. */
static inline bool cpu_is_active(unsigned index)
{
    return __x86_get_cpuid_feature_leaf(index / 128)->active_array[index % 128 / 32] >> index % 32 &
           1;
}
#endif
#endif
#endif
#ifndef cpu_has
#define cpu_has(NAME, name) __builtin_cpu_supports(name)
#endif

#endif
