/* SPDX-License-Identifier: MIT */
/* The sandbox where there is none: other systems than Linux, sanitizers, --disable-sandbox. */
#include "sandbox.h"

#include <errno.h>

void sandbox_begin(struct sandbox *sandbox)
{
    *sandbox = (struct sandbox){.rules = -1, .version = ENOSYS, .calls_error = ENOSYS};
}

void sandbox_allow(struct sandbox *sandbox, int fd, enum sandbox_use use)
{
    (void)sandbox;
    (void)fd;
    (void)use;
}

void sandbox_allow_path(struct sandbox *sandbox, const char *path)
{
    (void)sandbox;
    (void)path;
}

bool sandbox_allow_name(struct sandbox *sandbox, const char *name)
{
    (void)sandbox;
    (void)name;
    return true;
}

bool sandbox_allow_regular(struct sandbox *sandbox, const char *name)
{
    (void)sandbox;
    (void)name;
    return true;
}

void sandbox_missed(struct sandbox *sandbox, int error)
{
    (void)sandbox;
    (void)error;
}

void sandbox_enter(struct sandbox *sandbox)
{
    (void)sandbox;
}

void sandbox_describe(const struct sandbox *sandbox, struct reason *text)
{
    (void)sandbox;
    reason_set(text, "none: this build has none");
}
