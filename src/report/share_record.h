/* SPDX-License-Identifier: MIT */
/* What a table holds of all FILEs, if it is a share of them or several: plain data, which JSON
 * shows, and by which shares that are added up prove that nothing is missing or counted twice. */
#ifndef GPUHISTO_SHARE_RECORD_H
#define GPUHISTO_SHARE_RECORD_H

#include <stddef.h>
#include <stdint.h>

struct writer;

#define SHARES_MAX 1000000             /* of a job */
#define SHARE_NAME_MAX (4 * 4096 + 16) /* bytes of a FILE's name as printable text */

/* Of bytes: the end is exclusive. Of parts: the first and the last one, both included. */
struct share_range {
    uint64_t begin, end;
};

/* A FILE of which something belongs to the share. */
struct share_file {
    uint64_t index; /* among the FILEs of the command line, from 1 */
    char *name;     /* as printable text (show_text) */
    uint64_t size;  /* bytes, as stored */
    uint64_t fingerprint;
    struct share_range *ranges; /* bytes of the FILE as stored, ascending; [0,0) of an empty one */
    size_t range_count;
};

struct share_record {
    uint64_t of;               /* how many shares there are */
    struct share_range *parts; /* which of them these are, from 1, ascending */
    size_t part_count;
    uint64_t list_files, list_bytes, list_digest; /* of all FILEs together */
    struct share_file *files;                     /* in the order of the command line */
    size_t file_count;
};

/* Writes the record as a JSON object. Errors stay with the writer. */
void share_record_write(struct writer *out, const struct share_record *record);

#endif
