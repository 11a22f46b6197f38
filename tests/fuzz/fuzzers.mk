# SPDX-License-Identifier: MIT
# For GNU make, called by `make fuzz` in the build directory: builds $(fuzzers), with coverage and
# sanitizers. The program's sources, the tests' helpers and what fuzzers share, $(fuzzed), are compiled
# once into an archive, from which each fuzzer takes what it needs.

flags = -include config.h -I. -I$(srcdir) -D_GNU_SOURCE -MMD -MP -ffp-contract=off
objects = $(patsubst %,tests/fuzz/objects/%.o,$(basename $(filter %.c %.cpp,$(fuzzed))))
# What a fuzzer is linked with beside $(LIBS).
link_chain_gzip = $(FUZZ_ZLIB)
link_compressed = -Wl,--wrap=worker_wait $(FUZZ_ZLIB)
link_gpu_gzip = $(FUZZ_ZLIB)
link_gzip = $(FUZZ_ZLIB)
link_parse_gzip = $(FUZZ_ZLIB)
link_shards = -Wl,--wrap=worker_wait $(FUZZ_ZLIB)
link_work = -fprofile-instr-generate -Wl,--wrap=worker_wait $(FUZZ_ZLIB)
VPATH = $(srcdir)

all: $(fuzzers)
$(fuzzers): tests/fuzz/%: tests/fuzz/objects/tests/fuzz/%.o tests/fuzz/libfuzzed.a
	@echo "  CXXLD    $@"
	@$(FUZZ_CXX) $(FUZZ_CXXFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(FUZZ_ENGINE) $(link_$(@F)) $(LIBS) -pthread
tests/fuzz/libfuzzed.a: $(objects)
	@rm -f $@
	@$(AR) cr $@ $^
# What `work` counts the work of.
counted = $(patsubst %.c,tests/fuzz/counted/%.o,$(filter src/parallel/%.c src/schedule/pieces%.c,$(fuzzed)))
tests/fuzz/work: $(counted)
tests/fuzz/counted/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC       $@"
	@$(FUZZ_CC) -std=c17 $(FUZZ_CFLAGS) -fprofile-instr-generate $(flags) -c -o $@ $<
# What the emulation does with its threads is not what an input is worth.
tests/fuzz/objects/tests/device/emulation.o: flags += -fno-sanitize=fuzzer-no-link
tests/fuzz/objects/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC       $@"
	@$(FUZZ_CC) -std=c17 $(FUZZ_CFLAGS) $(flags) -c -o $@ $<
tests/fuzz/objects/%.o: %.cpp
	@mkdir -p $(@D)
	@echo "  CXX      $@"
	@$(FUZZ_CXX) -std=c++17 $(FUZZ_CXXFLAGS) $(flags) -c -o $@ $<

.PHONY: all
.SECONDARY:
-include $(objects:.o=.d) $(counted:.o=.d) $(fuzzers:%=tests/fuzz/objects/%.d)
