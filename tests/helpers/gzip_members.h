/* SPDX-License-Identifier: MIT */
/* gzip files that zlib makes, member by member, and what zlib makes of a file. One thread. */
#ifndef GPUHISTO_TESTS_GZIP_MEMBERS_H
#define GPUHISTO_TESTS_GZIP_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>

enum member_content {
    MEMBER_TEXT,
    MEMBER_RANDOM, /* does not compress: its blocks are stored */
    MEMBER_ZEROS,
    MEMBER_CONTENTS
};

#define GZIP_MEMBERS_MAX 8192

struct gzip_file {
    /* The caller's memory. */
    unsigned char *bytes, *content;
    size_t cap, content_cap;
    /* Both begin zeroed. */
    size_t len, content_len;
    unsigned members;
    struct {
        size_t at, content; /* bytes of the file and of content before it */
    } member[GZIP_MEMBERS_MAX];
};

struct gzip_member_settings {
    size_t len; /* bytes of content */
    enum member_content content;
    int level;
    bool is_flushed; /* after every 100,000 bytes: an empty stored block */
};

/* Adds a member. Ends the process if there is no room for it. */
void gzip_file_add(struct gzip_file *file, const struct gzip_member_settings *settings);

/* Adds one of any kind and level. */
void gzip_file_add_random(struct gzip_file *file, size_t len);

/* Adds bytes that are all the same. */
void gzip_file_pad(struct gzip_file *file, unsigned char byte, size_t len);

/* Has zlib decode in[0..len), members and padding, to content[0..*size), at most `cap` bytes. True
 * if it takes all of it. */
bool gzip_reference(const unsigned char *in, size_t len, unsigned char *content, size_t cap,
                    size_t *size);

#endif
