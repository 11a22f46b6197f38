/* SPDX-License-Identifier: MIT */
/* Builds without a sandbox: other systems than Linux, sanitizers, --disable-sandbox. */
#include "sandbox.h"

#include <errno.h>

void sandbox_begin(struct sandbox *sandbox)
{
    *sandbox = (struct sandbox){.rules = -1, .version = ENOSYS, .seccomp_error = ENOSYS};
}

void sandbox_allow(struct sandbox *sandbox, int fd, enum sandbox_use use)
{
    (void)sandbox, (void)fd, (void)use;
}

void sandbox_allow_path(struct sandbox *sandbox, const char *path)
{
    (void)sandbox, (void)path;
}

void sandbox_enter(struct sandbox *sandbox)
{
    (void)sandbox;
}

bool sandbox_is_whole(const struct sandbox *sandbox)
{
    (void)sandbox;
    return false;
}

void sandbox_describe(const struct sandbox *sandbox, struct error *text)
{
    (void)sandbox;
    error_set(text, "none: this build has none");
}
