# --- what a release needs beside the program ---
EXTRA_DIST += release/source_date
