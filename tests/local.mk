# SPDX-License-Identifier: MIT
# --- the tests: tests/README.md says what each folder is for ---
#
# `make check` is done in minutes: SCALE=small has fewer combinations and random cases, but all tests
# and every boundary. `make check-all` tries more, and SCALE=all everything. All end with what was skipped, and why.
#
# Environment of a test: GPUHISTO is the program, HELPERS where the helper programs are, EMULATED
# the program with a GPU that is emulated.

AM_TESTS_ENVIRONMENT = \
	srcdir='$(srcdir)'; export srcdir; \
	builddir='$(builddir)'; export builddir; \
	GPUHISTO='$(builddir)/gpuhisto$(EXEEXT)'; export GPUHISTO; \
	HELPERS='$(builddir)/tests/helpers'; export HELPERS; \
	EMULATED='$(builddir)/tests/device/gpuhisto-emulated$(EXEEXT)'; export EMULATED; \
	SANITIZED='$(sanitized)'; export SANITIZED; \
	SCALE="$${SCALE:-small}"; export SCALE;

if SANITIZED
sanitized = yes
else
sanitized = no
endif

# A test that hangs fails, and its name is told. Most scripts have a watchdog of their own (watch_over).
if SANITIZED
TEST_SECONDS = 1800
else
TEST_SECONDS = 900
endif
LOG_COMPILER = $(SHELL) $(srcdir)/tests/helpers/run_test
AM_LOG_FLAGS = $(TEST_SECONDS)
EXTRA_DIST += tests/helpers/run_test

.PHONY: check-all
check-all:
	@SCALE=full; export SCALE; $(MAKE) $(AM_MAKEFLAGS) check TESTS='$(on_emulated) $(TESTS)'

# The tests of which `make check` tries fewer cases, with all of them, in the tree that `make dist` packs.
.PHONY: distcheck-scaled
distcheck-scaled:
	@SCALE=full; export SCALE; $(MAKE) $(AM_MAKEFLAGS) distcheck \
	  TESTS="$(on_emulated) `$(SHELL) $(srcdir)/tests/helpers/scaled $(srcdir) $(TESTS)`"
EXTRA_DIST += tests/helpers/scaled

# With AddressSanitizer and UndefinedBehaviorSanitizer, in the tree that `make dist` packs: all tests but the scripts in
# which they find nothing, since these are about documents, packages, faults of the system or speed, or run the same
# code as others on other numbers.
.PHONY: distcheck-memory
distcheck-memory:
	@$(MAKE) $(AM_MAKEFLAGS) distcheck TESTS='$(memory_tests)' \
	  AM_DISTCHECK_CONFIGURE_FLAGS='--without-cuda --enable-sanitizer=address,undefined'
memory_tests = $(emulated_tests) $(unit_tests) $(transcripts) \
	tests/cli/modes_emulated.sh tests/cli/gpu_files_emulated.sh \
	tests/cli/also.sh tests/cli/channels.sh tests/cli/compressed.sh tests/cli/counts.sh tests/cli/decimal.sh tests/cli/diff.sh tests/cli/diff_keys.sh \
	tests/cli/by.sh tests/cli/by_merge.sh tests/cli/by_tables.sh tests/cli/each.sh tests/cli/each_blocks.sh tests/cli/unsupported_format.sh tests/cli/formats.sh tests/cli/grammar.sh tests/cli/gzip.sh tests/cli/headers.sh \
	tests/cli/json.sh tests/cli/json_path.sh tests/cli/keys.sh tests/cli/line.sh tests/cli/lines_with.sh tests/cli/lists.sh tests/cli/many_cores.sh tests/cli/many_cores_csv.sh tests/cli/many_cores_gzip.sh \
	tests/cli/merge.sh tests/cli/modifiers.sh tests/cli/npy.sh tests/cli/numbers.sh \
	tests/cli/options.sh tests/cli/plot.sh tests/cli/several_keys.sh tests/cli/regex.sh tests/cli/sort.sh tests/cli/sources.sh tests/cli/stats.sh tests/cli/times.sh tests/cli/values.sh tests/cli/weight.sh tests/cli/where.sh tests/cli/zstd.sh

# Tests that start threads: what ThreadSanitizer has to see. Scripts on modes start one, beside the main thread, for a short pipe
# and none for a short file; those on keys start many. Of scripts on the emulated GPU, which takes long for thousands of small chunks,
# it has a few.
threaded_tests = \
	tests/device/test_gpu_engine tests/device/test_zstd_files \
	tests/cli/gpus_emulated.sh \
	tests/cli/by.test tests/cli/by_tables.test tests/cli/sort.test \
	tests/cli/by.sh tests/cli/by_tables.sh tests/cli/compressed.sh tests/cli/gzip.sh tests/cli/interval.sh \
	tests/cli/first_fault.sh tests/cli/many_cores.sh tests/cli/many_cores_csv.sh tests/cli/many_cores_gzip.sh tests/cli/progress.sh \
	tests/cli/pieces_emulated.sh tests/cli/sort.sh tests/cli/zstd.sh \
	tests/unit/test_frames tests/unit/test_merge tests/unit/test_paged_counts \
	tests/unit/test_parallel tests/unit/test_parallel_read
.PHONY: check-threads
check-threads:
	@$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(threaded_tests)'

check-local: check-TESTS
	@$(SHELL) $(srcdir)/tests/helpers/digest "$${SCALE:-small}" $(TEST_LOGS)
EXTRA_DIST += tests/helpers/digest

# Other processors, C libraries and compilers; not part of `make check`.
EXTRA_DIST += tests/machines/check tests/machines/emulated

# Whether `make check` finds planted faults; not part of it.
EXTRA_DIST += tests/mutants

# --- what several tests share ---

test_libraries += tests/helpers/libhelpers.a
naive_number = tests/helpers/naive_number.c tests/helpers/naive_number.h
naive_field = tests/helpers/check_fields.c tests/helpers/check_fields.h \
	tests/helpers/naive_field.c tests/helpers/naive_field.h
tests_helpers_libhelpers_a_SOURCES = $(naive_number) $(naive_field) \
	tests/helpers/apart.c tests/helpers/apart.h \
	tests/helpers/bits.h \
	tests/helpers/check_characters.c tests/helpers/check_characters.h \
	tests/helpers/compressed.c tests/helpers/compressed.h \
	tests/helpers/drawn_text.c tests/helpers/drawn_text.h \
	tests/helpers/execute_bytes.c tests/helpers/execute_bytes.h \
	tests/helpers/find_key.h \
	tests/helpers/field_texts.c tests/helpers/field_texts.h \
	tests/helpers/check_json.c tests/helpers/check_json.h tests/helpers/json_texts.c tests/helpers/json_texts.h \
	tests/helpers/frame_by_blocks.c tests/helpers/frame_by_blocks.h tests/helpers/frame_by_pieces.c tests/helpers/frame_by_pieces.h \
	tests/helpers/guarded.c tests/helpers/guarded.h \
	tests/helpers/hostile.c tests/helpers/hostile.h \
	tests/helpers/layouts.c tests/helpers/layouts.h \
	tests/helpers/made_tables.c tests/helpers/made_tables.h \
	tests/helpers/naive_zstd.c tests/helpers/naive_zstd.h \
	tests/helpers/naive_zstd_tables.c tests/helpers/naive_zstd_tables.h \
	tests/helpers/need.h tests/helpers/random.c tests/helpers/random.h \
	tests/helpers/read_json.c tests/helpers/read_json.h \
	tests/helpers/readers.c tests/helpers/readers.h \
	tests/helpers/samples.c tests/helpers/samples.h \
	tests/helpers/scale.h \
	tests/helpers/seam.c tests/helpers/seam.h \
	tests/helpers/text_rows.c tests/helpers/text_rows.h \
	tests/helpers/texts.c tests/helpers/texts.h \
	tests/helpers/values.c tests/helpers/values.h \
	tests/helpers/vectors.c tests/helpers/vectors.h \
	tests/helpers/zstd_frames.c tests/helpers/zstd_frames.h

# Cases that any implementation can read, and what makes them.
EXTRA_DIST += tests/vectors/make tests/vectors/bins.json tests/vectors/escapes.json \
	tests/vectors/merges.json tests/vectors/numbers.json tests/vectors/ranks.json tests/vectors/sums.json

# --- what the scripts need ---

script_programs = tests/helpers/channel tests/helpers/dribble tests/helpers/make_data tests/helpers/make_gzip \
	tests/helpers/make_hostile \
	tests/helpers/make_zstd \
	tests/helpers/error_text tests/helpers/exchange tests/helpers/json_events tests/helpers/oracle tests/helpers/oracle_fields \
	tests/helpers/oracle_numbers tests/helpers/oracle_pairs \
	tests/helpers/oracle_values tests/helpers/peak tests/helpers/terminal tests/helpers/transcript \
	tests/helpers/with_stdin
test_programs += $(script_programs)
tests_helpers_json_events_LDADD = libhistogram.a
tests_helpers_make_data_LDADD = tests/helpers/libhelpers.a
tests_helpers_make_hostile_LDADD = tests/helpers/libhelpers.a
tests_helpers_oracle_fields_LDADD = tests/helpers/libhelpers.a libgpuhisto.a libhistogram.a -lm
tests_helpers_oracle_numbers_LDADD = tests/helpers/libhelpers.a libhistogram.a -lm

# A library that gets in between the program and libc; sanitizers want that place for themselves.
if !SANITIZED
script_libraries = tests/helpers/interpose.so tests/helpers/escape.so
endif
tests/helpers/interpose.so: tests/helpers/interpose.c
tests/helpers/escape.so: tests/helpers/escape.c
tests/helpers/interpose.so tests/helpers/escape.so:
	@$(MKDIR_P) tests/helpers
	$(AM_V_CCLD)$(CC) $(DEFS) $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) $(LDFLAGS) \
	  -shared -fPIC -o $@ $(srcdir)/$(@:.so=.c) -ldl
MOSTLYCLEANFILES += tests/helpers/interpose.so tests/helpers/escape.so

# --- units ---

unit_tests = \
	tests/unit/test_binning \
	tests/unit/test_digits \
	tests/unit/test_byte_masks tests/unit/test_byte_masks_by_words \
	tests/unit/test_byte_counts \
	tests/unit/test_byte_pairs \
	tests/unit/test_characters \
	tests/unit/test_sandbox \
	tests/unit/test_record_joiner \
	tests/unit/test_policy \
	tests/unit/test_count \
	tests/unit/test_header \
	tests/unit/test_fields \
	tests/unit/test_file_tallies \
	tests/unit/test_frames \
	tests/unit/test_replay_window \
	tests/unit/test_json_path tests/unit/test_json_reader \
	tests/unit/test_key tests/unit/test_key_counts tests/unit/test_key_tallies \
	tests/unit/test_limits \
	tests/unit/test_error_locator \
	tests/unit/test_line_spans \
	tests/unit/test_regex \
	tests/unit/test_merge \
	tests/unit/test_moments \
	tests/unit/test_naive_zstd \
	tests/unit/test_number_parsers \
	tests/unit/test_paged_counts \
	tests/unit/test_plot \
	tests/unit/test_quantile \
	tests/unit/test_shards \
	tests/unit/test_show \
	tests/unit/test_show_number \
	tests/unit/test_small_frames \
	tests/unit/test_snapshot \
	tests/unit/test_units \
	tests/unit/test_values \
	tests/unit/test_cuda_devices \
	tests/unit/test_parallel tests/unit/test_parallel_read \
	tests/unit/test_writer \
	tests/unit/test_xxh64 \
	tests/unit/test_zstd_piece \
	tests/unit/test_zstd_decoder \
	tests/unit/test_zstd_links
if HAVE_GPU_DECODING
unit_tests += tests/unit/test_gzip_plan tests/unit/test_zstd_plan
endif
if HAVE_ZLIB
unit_tests += tests/unit/test_deflate tests/unit/test_gzip_chain
if HAVE_ISAL
unit_tests += tests/unit/test_work
endif
endif
test_programs += $(unit_tests)
libraries = tests/helpers/libhelpers.a libgpuhisto.a libhistogram.a
reading_by_turns = $(AM_LDFLAGS) -Wl,--wrap=worker_wait # tests/helpers/readers.c
with_device = tests/helpers/libhelpers.a libgpuhisto.a $(device) libhistogram.a $(device_libs)
tests_unit_test_binning_LDADD = $(libraries) -lm
tests_unit_test_digits_LDADD = $(libraries) -lm
tests_unit_test_byte_masks_LDADD = $(libraries)
tests_unit_test_byte_masks_by_words_SOURCES = tests/unit/test_byte_masks.c
tests_unit_test_byte_masks_by_words_CPPFLAGS = $(AM_CPPFLAGS) -DBYTE_MASKS_BY_WORDS
tests_unit_test_byte_masks_by_words_LDADD = $(libraries)
tests_unit_test_byte_counts_LDADD = $(libraries)
tests_unit_test_byte_pairs_LDADD = $(libraries)
tests_unit_test_characters_LDADD = $(libraries)
tests_unit_test_sandbox_LDADD = $(libraries)
tests_unit_test_record_joiner_LDADD = $(libraries)
tests_unit_test_policy_LDADD = $(libraries) -lm
tests_unit_test_count_LDADD = $(libraries)
tests_unit_test_deflate_SOURCES = tests/unit/test_deflate.c \
	tests/helpers/deflate_oracle.c tests/helpers/deflate_oracle.h
tests_unit_test_deflate_LDADD = $(libraries) -lz
gzip_members = tests/helpers/gzip_members.c tests/helpers/gzip_members.h
tests_unit_test_gzip_chain_SOURCES = tests/unit/test_gzip_chain.c $(gzip_members) \
	tests/helpers/gzip_runs.c tests/helpers/gzip_runs.h
tests_unit_test_gzip_chain_LDADD = $(libraries) -lz
tests_unit_test_header_LDADD = $(libraries)
tests_unit_test_fields_LDADD = $(libraries)
tests_unit_test_file_tallies_LDADD = tests/helpers/libhelpers.a libhistogram.a -lm
tests_unit_test_frames_LDADD = $(with_device)
tests_unit_test_frames_LDFLAGS = $(reading_by_turns)
tests_unit_test_replay_window_LDADD = $(libraries)
tests_unit_test_json_path_LDADD = $(libraries) -lm
tests_unit_test_json_reader_LDADD = libhistogram.a
tests_unit_test_key_LDADD = $(libraries)
tests_unit_test_key_counts_LDADD = $(libraries)
tests_unit_test_key_tallies_LDADD = $(libraries) -lm
tests_unit_test_limits_LDADD = $(libraries)
tests_unit_test_error_locator_LDADD = $(libraries)
tests_unit_test_line_spans_LDADD = $(libraries)
tests_unit_test_regex_LDADD = $(libraries)
tests_unit_test_merge_LDADD = $(with_device)
tests_unit_test_moments_LDADD = $(libraries)
tests_unit_test_naive_zstd_LDADD = $(libraries)
tests_unit_test_number_parsers_SOURCES = tests/unit/test_number_parsers.c \
	tests/unit/tested_parsers.h tests/unit/parsers_cpu.c
tests_unit_test_number_parsers_LDADD = $(libraries)
tests_unit_test_paged_counts_LDADD = $(libraries)
tests_unit_test_plot_LDADD = $(libraries)
tests_unit_test_quantile_LDADD = $(libraries) -lm
tests_unit_test_shards_LDADD = $(with_device)
tests_unit_test_shards_LDFLAGS = $(reading_by_turns)
tests_unit_test_show_LDADD = $(libraries)
tests_unit_test_show_number_LDADD = $(libraries) -lm
tests_unit_test_small_frames_LDADD = $(with_device)
tests_unit_test_small_frames_LDFLAGS = $(reading_by_turns) -Wl,--wrap=frames_acquire
tests_unit_test_snapshot_LDADD = $(libraries)
tests_unit_test_units_LDADD = $(libraries) -lm
tests_unit_test_values_LDADD = $(libraries)
tests_unit_test_cuda_devices_LDADD = $(libraries)
tests_unit_test_parallel_LDADD = $(libraries)
tests_unit_test_parallel_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=pthread_create
tests_unit_test_parallel_read_LDADD = $(libraries)
work_wrapped = -Wl,--wrap=gzip_run_parse -Wl,--wrap=deflate_find -Wl,--wrap=deflate_read_codes \
	-Wl,--wrap=deflate_parse -Wl,--wrap=deflate_tables_build -Wl,--wrap=zstd_parse \
	-Wl,--wrap=sequence_table_read -Wl,--wrap=huffman_table_read
tests_unit_test_work_LDADD = $(with_device)
tests_unit_test_work_LDFLAGS = $(reading_by_turns) $(work_wrapped)
tests_unit_test_writer_LDADD = $(libraries)
tests_unit_test_xxh64_LDADD = $(libraries)
tests_unit_test_parallel_read_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=pread
tests_unit_test_zstd_decoder_LDADD = $(libraries)
tests_unit_test_zstd_piece_LDADD = $(libraries)
tests_unit_test_gzip_plan_LDADD = $(libraries)
tests_unit_test_zstd_plan_LDADD = $(libraries)
tests_unit_test_zstd_links_LDADD = $(libraries)

# --- the device: the kernels where one is built in, which are skipped without a GPU ---

device_tests = tests/device/test_kernels
test_programs += $(device_tests)
tests_device_test_kernels_LDADD = $(with_device) -lm

# The kernels on a device that is emulated in C++, and all that can go wrong with a device.
if HAVE_CXX
test_libraries += tests/device/libemulated.a
tests_device_libemulated_a_SOURCES = \
	tests/device/emulated_device.cpp tests/device/emulated_device.h \
	tests/device/emulated_device_internal.h tests/device/emulated_streams.cpp \
	tests/device/emulation.cpp tests/device/emulation.h \
	tests/device/kernels_on_host.cpp tests/device/zstd_on_host.cpp
tests_device_libemulated_a_CXXFLAGS = $(AM_CXXFLAGS) $(FIBER_CFLAGS)
emulated = tests/helpers/libhelpers.a libgpuhisto.a tests/device/libemulated.a libhistogram.a

# A C++ source that does not exist has automake link a C program with the C++ compiler.
emulated_tests = tests/device/test_emulation tests/device/test_gpu_engine \
	tests/device/test_kernel_table tests/device/test_kernels_emulated tests/device/test_number_parser_gpu tests/device/test_rows \
	tests/device/test_zstd_files
gpu_files = tests/device/gpu_files.c tests/device/gpu_files.h
if HAVE_ZLIB
if HAVE_ISAL
emulated_tests += tests/device/test_gzip_files
tests_device_test_gzip_files_SOURCES = tests/device/test_gzip_files.cpp $(gpu_files) $(gzip_members)
tests_device_test_gzip_files_LDADD = $(emulated) -lz
endif
endif
emulated_program = tests/device/gpuhisto-emulated
test_programs += $(emulated_tests) $(emulated_program)
tests_device_test_emulation_SOURCES = tests/device/test_emulation.cpp
tests_device_test_emulation_LDADD = $(emulated)
tests_device_test_gpu_engine_SOURCES = tests/device/test_gpu_engine.c
nodist_EXTRA_tests_device_test_gpu_engine_SOURCES = cxx.cpp
tests_device_test_gpu_engine_LDADD = $(emulated)
tests_device_test_kernel_table_SOURCES = tests/device/test_kernel_table.cpp
tests_device_test_kernel_table_LDADD = $(emulated)
tests_device_test_number_parser_gpu_SOURCES = tests/unit/test_number_parsers.c \
	tests/unit/tested_parsers.h tests/device/parsers_gpu.cpp
tests_device_test_number_parser_gpu_LDADD = $(emulated)
tests_device_test_zstd_files_SOURCES = tests/device/test_zstd_files.cpp tests/device/zstd_made.cpp tests/device/zstd_made.h $(gpu_files)
tests_device_test_zstd_files_LDADD = $(emulated)
tests_device_test_kernels_emulated_SOURCES = tests/device/test_kernels.c
nodist_EXTRA_tests_device_test_kernels_emulated_SOURCES = cxx.cpp
tests_device_test_kernels_emulated_LDADD = $(emulated)
tests_device_test_rows_SOURCES = tests/device/test_rows.cpp
tests_device_test_rows_LDADD = $(emulated)
tests_device_gpuhisto_emulated_SOURCES = src/main.c tests/device/emulated_tuning.c
tests_device_gpuhisto_emulated_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=options_parse -Wl,--wrap=cuda_devices_choose
nodist_EXTRA_tests_device_gpuhisto_emulated_SOURCES = cxx.cpp
tests_device_gpuhisto_emulated_LDADD = $(emulated)
endif

# --- the command line ---

scripts = \
	tests/cli/also.sh tests/cli/channels.sh tests/cli/characters.sh tests/cli/completions.sh tests/cli/compressed.sh \
	tests/cli/by.sh tests/cli/by_merge.sh tests/cli/by_tables.sh tests/cli/counts.sh tests/cli/counts_auto.sh tests/cli/decimal.sh tests/cli/diff.sh tests/cli/diff_keys.sh tests/cli/docs.sh tests/cli/each.sh \
	tests/cli/each_blocks.sh \
	tests/cli/fault_table.sh tests/cli/faults.sh tests/cli/fields.sh tests/cli/first_fault.sh tests/cli/unsupported_format.sh \
	tests/cli/formats.sh tests/cli/grammar.sh tests/cli/gzip.sh tests/cli/hardening.sh tests/cli/headers.sh tests/cli/installed.sh tests/cli/interval.sh \
	tests/cli/json.sh tests/cli/json_path.sh tests/cli/keys.sh tests/cli/large.sh tests/cli/line.sh tests/cli/lines_with.sh tests/cli/lists.sh tests/cli/many_cores.sh tests/cli/many_cores_csv.sh tests/cli/many_cores_gzip.sh tests/cli/memory.sh tests/cli/merge.sh \
	tests/cli/modifiers.sh tests/cli/names.sh tests/cli/npy.sh tests/cli/numbers.sh \
	tests/cli/options.sh tests/cli/output.sh tests/cli/pairs.sh tests/cli/parallel_ssh.sh tests/cli/part.sh \
	tests/cli/plot.sh tests/cli/progress.sh tests/cli/ranges.sh tests/cli/recipes.sh tests/cli/regex.sh tests/cli/reproducible.sh \
	tests/cli/prometheus.sh tests/cli/right.sh tests/cli/sandbox.sh \
	tests/cli/sbom.sh tests/cli/setup.sh tests/cli/several_keys.sh tests/cli/signals.sh tests/cli/slurm.sh tests/cli/sort.sh tests/cli/sources.sh \
	tests/cli/startup.sh tests/cli/stats.sh tests/cli/times.sh tests/cli/units.sh tests/cli/values.sh tests/cli/weight.sh tests/cli/where.sh tests/cli/zstd.sh

# Commands and what they print.
transcripts = \
	tests/cli/also.test tests/cli/by.test tests/cli/by_merge.test tests/cli/by_tables.test tests/cli/channels.test tests/cli/characters.test \
	tests/cli/decimal.test tests/cli/diff.test tests/cli/diff_keys.test tests/cli/each.test tests/cli/fields.test tests/cli/formats.test \
	tests/cli/headers.test tests/cli/json_path.test tests/cli/keys.test tests/cli/line.test tests/cli/lines_with.test tests/cli/lists.test \
	tests/cli/merge.test tests/cli/npy.test tests/cli/numbers.test tests/cli/output.test tests/cli/pairs.test tests/cli/part.test tests/cli/plot.test \
	tests/cli/prometheus.test tests/cli/ranges.test tests/cli/regex.test tests/cli/right.test tests/cli/several_keys.test tests/cli/sort.test \
	tests/cli/stats.test tests/cli/times.test tests/cli/units.test tests/cli/unsupported_format.test tests/cli/values.test tests/cli/weight.test \
	tests/cli/where.test

# With a GPU that is emulated.
emulated_scripts = \
	tests/cli/device_faults_emulated.sh tests/cli/faults_emulated.sh tests/cli/gpus_emulated.sh tests/cli/modes_emulated.sh tests/cli/shared_emulated.sh \
	tests/cli/snapshots_emulated.sh tests/cli/auto_emulated.sh tests/cli/gpu_files_emulated.sh \
	tests/cli/gzip_files_emulated.sh tests/cli/pieces_emulated.sh

# Scripts once more on another engine: SCRIPT_ENGINE.on is a file without content that has tests/helpers/on run
# SCRIPT.sh and SCRIPT.test with ENGINE. On a GPU they are skipped where there is none. What the emulated ones prove is the sum of what
# others do (modes_emulated.sh, the scripts on the CPU, tests/device), so only check-all multiplies it out.
TEST_EXTENSIONS = .on .test
ON_LOG_COMPILER = $(LOG_COMPILER)
AM_ON_LOG_FLAGS = $(AM_LOG_FLAGS)
TEST_LOG_COMPILER = $(LOG_COMPILER)
AM_TEST_LOG_FLAGS = $(AM_LOG_FLAGS)
on_gpu = \
	tests/cli/characters_gpu.on tests/cli/counts_gpu.on tests/cli/counts_gpus.on tests/cli/each_gpu.on \
	tests/cli/fields_gpu.on tests/cli/large_gpu.on tests/cli/numbers_gpu.on tests/cli/pairs_gpu.on \
	tests/cli/values_gpu.on tests/cli/gzip_gpu.on tests/cli/zstd_gpu.on
on_emulated = \
	tests/cli/characters_emulated.on tests/cli/counts_emulated.on tests/cli/each_emulated.on \
	tests/cli/fields_emulated.on tests/cli/gzip_emulated.on tests/cli/interval_emulated.on \
	tests/cli/numbers_emulated.on tests/cli/pairs_emulated.on tests/cli/part_emulated.on tests/cli/ranges_emulated.on \
	tests/cli/sources_emulated.on tests/cli/values_emulated.on tests/cli/zstd_emulated.on
$(on_gpu) $(on_emulated):
	@$(MKDIR_P) tests/cli && touch $@
MOSTLYCLEANFILES += $(on_gpu) $(on_emulated)
EXTRA_DIST += tests/helpers/on

# What a script needs is built before it is run. A C test is built for its own log, by automake's rule.
script_logs = $(scripts:=.log) $(transcripts:.test=.log) $(on_gpu:.on=.log)
emulated_logs = $(emulated_scripts:=.log) $(on_emulated:.on=.log)
$(script_logs) $(emulated_logs): gpuhisto$(EXEEXT) $(script_programs) $(script_libraries)
$(emulated_logs): $(emulated_program)
tests/cli/counts_auto.sh.log tests/cli/fault_table.sh.log tests/cli/hardening.sh.log tests/cli/sandbox.sh.log \
tests/cli/signals.sh.log tests/cli/units.sh.log: $(emulated_program)
.PHONY: test-programs
test-programs: $(test_programs) $(script_libraries)

# What takes long begins early, so that it is not waited for alone.
TESTS = $(emulated_tests) $(emulated_scripts) $(scripts) $(transcripts) $(on_gpu) $(unit_tests) $(device_tests)
EXTRA_DIST += $(scripts) $(transcripts) $(emulated_scripts) tests/helpers/lib.sh tests/helpers/transcript.sh tests/helpers/compressed.sh tests/helpers/emulated.sh \
	tests/helpers/many_cores.sh \
	tests/helpers/examples.sh tests/helpers/isolated.sh \
	tests/helpers/categories.py tests/helpers/characters.py tests/helpers/json_events.py tests/helpers/kept_lines.py tests/helpers/made_times.py tests/helpers/modifiers.py tests/helpers/names.py tests/helpers/oracle_blocks.py tests/helpers/oracle_by.py tests/helpers/oracle_json.py tests/helpers/oracle_line.py tests/helpers/oracle_keys.py tests/helpers/oracle_regex.py tests/helpers/oracle_stats.py tests/helpers/oracle_units.py tests/helpers/oracle_where.py tests/helpers/openmetrics.py tests/helpers/right_bins.py tests/helpers/pieces.py tests/helpers/pgm_of_pairs.py tests/helpers/recipes.py tests/helpers/escape.c tests/helpers/interpose.c

# Cases drawn at random, for as long as one likes: make soak SOAKFLAGS="--seconds=600"
EXTRA_DIST += tests/cli/soak
.PHONY: soak
soak: gpuhisto$(EXEEXT) $(script_programs) $(emulated_program)
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/tests/cli/soak $(SOAKFLAGS)

# Every kind of fault under every kind of command: make fault-table FAULTFLAGS="--jobs=8"
EXTRA_DIST += tests/cli/fault_table
.PHONY: fault-table
fault-table: gpuhisto$(EXEEXT) $(script_programs) $(script_libraries) $(emulated_program)
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/tests/cli/fault_table $(FAULTFLAGS)

# What others publish to test programs like this one: make check-suites SUITES=DIRECTORY
EXTRA_DIST += tests/suites/check
.PHONY: check-suites
check-suites: gpuhisto$(EXEEXT) $(emulated_program)
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/tests/suites/check '$(SUITES)'

include tests/fuzz/local.mk
