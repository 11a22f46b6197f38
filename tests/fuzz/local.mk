# SPDX-License-Identifier: MIT
# Fuzzers, which need clang: `make fuzz` builds them, `make fuzz-seeds` makes what they begin with, and
# `make fuzz-smoke` runs each for a minute. tests/fuzz/README.md says what each is for, and how to add
# one: its name in `fuzzers`, its source and dictionary in EXTRA_DIST, its seeds in make_seeds.

FUZZ_SECONDS = 60

# How they are compiled; fuzzers.mk does it. tests/fuzz/oss-fuzz/build.sh gives others.
FUZZ_CC = clang
FUZZ_CXX = clang++
FUZZ_CFLAGS = -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fsanitize=fuzzer-no-link
FUZZ_CXXFLAGS = $(FUZZ_CFLAGS)
FUZZ_ENGINE = -fsanitize=fuzzer
FUZZ_ZLIB = -lz
fuzz_flags = FUZZ_CC='$(FUZZ_CC)' FUZZ_CXX='$(FUZZ_CXX)' FUZZ_CFLAGS='$(FUZZ_CFLAGS)' \
	FUZZ_CXXFLAGS='$(FUZZ_CXXFLAGS)' FUZZ_ENGINE='$(FUZZ_ENGINE)' FUZZ_ZLIB='$(FUZZ_ZLIB)'

fuzzers = tests/fuzz/characters tests/fuzz/fields tests/fuzz/gpu_zstd tests/fuzz/header tests/fuzz/json_path tests/fuzz/keys \
	tests/fuzz/line_format tests/fuzz/merge \
	tests/fuzz/number tests/fuzz/options tests/fuzz/pairs tests/fuzz/parse_zstd
fuzz_shared = tests/fuzz/fuzz.c tests/fuzz/made_zstd.cpp
if FUZZ_GZIP
fuzzers += tests/fuzz/chain_gzip tests/fuzz/compressed tests/fuzz/gpu_gzip tests/fuzz/gzip tests/fuzz/parse_gzip tests/fuzz/shards \
	tests/fuzz/work
fuzz_shared += tests/fuzz/made_files.c tests/helpers/deflate_oracle.c tests/helpers/gzip_members.c \
	tests/helpers/gzip_runs.c
endif
EXTRA_DIST += tests/fuzz/fuzzers.mk tests/fuzz/make_seeds tests/fuzz/smoke \
	tests/fuzz/fuzz.c tests/fuzz/fuzz.h tests/fuzz/made_files.c tests/fuzz/made_files.h \
	tests/fuzz/made_zstd.cpp tests/fuzz/made_zstd.h tests/fuzz/parse_zstd.cpp \
	tests/fuzz/chain_gzip.c tests/fuzz/characters.c tests/fuzz/compressed.c tests/fuzz/fields.c tests/fuzz/gpu_gzip.cpp \
	tests/fuzz/gpu_zstd.cpp \
	tests/fuzz/gzip.c tests/fuzz/merge.c tests/fuzz/merge.dict tests/fuzz/merge.options \
	tests/fuzz/header.c tests/fuzz/header.dict \
	tests/fuzz/json_path.c tests/fuzz/json_path.dict tests/fuzz/json_path.options tests/fuzz/keys.c tests/fuzz/keys.dict \
	tests/fuzz/keys.options tests/fuzz/line_format.c tests/fuzz/line_format.dict tests/fuzz/line_format.options \
	tests/fuzz/number.c tests/fuzz/number.dict \
	tests/fuzz/options.c tests/fuzz/options.dict tests/fuzz/pairs.c tests/fuzz/parse_gzip.c tests/fuzz/shards.c \
	tests/fuzz/work.c tests/fuzz/work.options \
	tests/fuzz/oss-fuzz/Dockerfile tests/fuzz/oss-fuzz/build.sh tests/fuzz/oss-fuzz/project.yaml

.PHONY: fuzz fuzz-seeds fuzz-smoke
fuzz:
	@$(MAKE) -f $(srcdir)/tests/fuzz/fuzzers.mk srcdir='$(srcdir)' fuzzers='$(fuzzers)' LIBS='$(LIBS)' \
	  AR='$(AR)' $(fuzz_flags) \
	  fuzzed='$(libhistogram_a_SOURCES) $(libgpuhisto_a_SOURCES) \
	    $(tests_helpers_libhelpers_a_SOURCES) $(tests_device_libemulated_a_SOURCES) \
	    tests/device/gpu_files.c tests/device/zstd_made.cpp $(fuzz_shared)'
fuzz-seeds: gpuhisto$(EXEEXT) tests/helpers/make_data$(EXEEXT) tests/helpers/make_gzip$(EXEEXT) \
		tests/helpers/make_hostile$(EXEEXT) \
		tests/helpers/make_zstd$(EXEEXT)
	@GPUHISTO=./gpuhisto$(EXEEXT) HELPERS=tests/helpers $(SHELL) $(srcdir)/tests/fuzz/make_seeds \
	  tests/fuzz/seeds $(notdir $(fuzzers))
fuzz-smoke: fuzz fuzz-seeds
	@$(SHELL) $(srcdir)/tests/fuzz/smoke $(FUZZ_SECONDS) '$(srcdir)/tests/fuzz' tests/fuzz/seeds $(fuzzers)
CLEANFILES += $(fuzzers) tests/fuzz/libfuzzed.a
clean-local: clean-fuzz
.PHONY: clean-fuzz
clean-fuzz:
	rm -rf tests/fuzz/counted tests/fuzz/objects tests/fuzz/seeds
