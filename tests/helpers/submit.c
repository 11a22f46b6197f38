/* SPDX-License-Identifier: MIT */
#include "tests/helpers/submit.h"

#include "src/engine/engine.h"
#include "tests/helpers/need.h"

int submit_source(struct source *source, const struct source_sink *sink, atomic_uint *submitted)
{
    struct reader *reader = need(reader_open(source));
    int more = 1;
    while (more > 0) {
        struct chunk *chunk;
        enum flow flow;
        more = source_read(reader, sink, &chunk, &flow);
        if (chunk && engine_submit(chunk) != 0)
            more = -1;
        if (chunk && submitted)
            atomic_fetch_add(submitted, 1);
    }
    reader_close(reader);
    return more;
}
