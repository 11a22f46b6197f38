/* SPDX-License-Identifier: MIT */
/* A chunk: memory that an engine lends to the reader that fills it. Readers know nothing else of
 * engines. */
#ifndef GPUHISTO_CHUNK_H
#define GPUHISTO_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;

/* The position of a chunk among all chunks. A file is one or more segments. A reader reads the
 * chunks of a segment in order; segments and files are read side by side. */
struct position {
    size_t file;      /* all three are counted from 0 */
    uint64_t segment; /* of the file */
    uint64_t index;   /* of the segment */
};

/* The parts of the input that may end with a chunk. */
enum chunk_end {
    ENDS_NOTHING,
    ENDS_SEGMENT,
    ENDS_FILE,
};

/* The source of a chunk's data. A copy of the data keeps a copy of it. Only text needs more than
 * `bytes`, `at.file` and the last two. */
struct origin {
    size_t bytes; /* of input; a token may have some in two chunks */
    struct position at;
    enum chunk_end end;
    const char *name;      /* the file as messages name it */
    uint64_t counted_from; /* bytes of the file, as stored, before what is counted of it */
    int32_t column; /* of lines: the field that a column's name means in this file; 0 if there is no
                     * name */
    int32_t key_column; /* the same for that of the key */
    bool has_header;    /* the first record is the file's header, which is not counted */
    uint64_t content;   /* bytes of the file's content before the chunk's, if that was wanted, */
    uint64_t content_first; /* and before those that are counted */
};

/* Memory that a chunk borrows once from another owner, and does not write to. */
struct borrowed {
    void (*give_back)(struct borrowed *borrowed); /* the chunk was counted; any thread */
};

struct chunk {
    struct engine *engine;     /* the owner */
    unsigned char *data;       /* cap bytes, and record_slack more for text */
    struct borrowed *borrowed; /* data[0..len) are borrowed; NULL: they are the engine's own */
    bool may_borrow;           /* they may be borrowed */
    size_t len, cap;           /* bytes in use, and in all */
    size_t begin;              /* of lines: bytes in use before its first record */
    size_t repeated; /* of pairs: bytes in use that were in the chunk before, too; the next
                      * origin.bytes are its own */
    struct origin origin;
    bool fill; /* wait until there are cap bytes; otherwise take what one read gives */
    bool give; /* an idle thread may count it */
};

#endif
