# SPDX-License-Identifier: MIT
# --- the benchmarks: `make bench` builds them, `make bench-stream` measures the whole program,
# `make bench-fields` fields of a log and of CSV, beside awk, DuckDB and polars, `make bench-by` results by
# key and JSON lines, beside these and `sort | uniq -c`, miller and jq, `make bench-characters`
# characters and pairs, beside Python, perl and pipelines, `make bench-scaling` how the CPU's part scales
# with the number of workers, `make bench-startup` a small file beside `wc -c`, `make bench-tasks` thirty-one
# questions beside what people use instead, `make bench-guard` instructions beside earlier ones ---

benchmarks += bench/blocks bench/cpu bench/hash bench/numbers bench/pairs bench/pieces bench/produce bench/read_only bench/zstd_only
bench_blocks_SOURCES = bench/blocks.c bench/blocks.h bench/blocks_gzip.c bench/blocks_zstd.c \
	tests/helpers/frame_by_blocks.c tests/helpers/frame_by_blocks.h
bench_blocks_LDADD = libgpuhisto.a libhistogram.a
bench_cpu_LDADD = libgpuhisto.a libhistogram.a bench/libdata.a -ldl
bench_hash_LDADD = libgpuhisto.a libhistogram.a -ldl
bench_numbers_SOURCES = bench/numbers.c tests/helpers/naive_number.c tests/helpers/naive_number.h
bench_numbers_LDADD = libgpuhisto.a libhistogram.a bench/libdata.a
bench_pieces_LDADD = libgpuhisto.a libhistogram.a
bench_produce_LDADD = bench/libdata.a
bench_libdata_a_SOURCES = bench/data.c bench/data.h bench/texts.c bench/texts.h \
	tests/helpers/random.c tests/helpers/random.h
EXTRA_DIST += bench/ceiling.h bench/character_kernels.cu bench/device.cuh bench/read_file.cuh bench/kernels.cu bench/number_kernels.cu bench/pair_kernels.cu bench/textbook.cu bench/value_kernels.cu \
	bench/zstd_nvcomp.cu bench/decode_stages.cu \
	bench/by bench/characters bench/fields bench/fields_peers.py bench/guard bench/logs.py bench/merge bench/plot bench/scaling.py bench/startup.py bench/stream bench/tasks.py bench/results/epyc-by.csv bench/results/epyc-tasks.csv bench/results/h200-1g.csv \
	bench/results/h200-bins.csv bench/results/h200-characters.csv bench/results/h200-cpu.csv bench/results/h200-decoding.csv bench/results/h200-frames.csv bench/results/h200-modes.csv bench/results/h200-numbers.csv bench/results/h200-sizes.csv bench/results/h100-bins.csv bench/results/h200-auto.csv bench/results/h200-cores.csv bench/results/h100-members.csv bench/results/h100-pairs.csv bench/results/h100-pieces.csv bench/results/h100-partitioned.csv bench/results/h100x2.csv bench/results/h200x2.csv \
	bench/results/h200-pairs.csv bench/results/h200-published.csv bench/results/h200-stream.csv bench/results/h200-many.csv bench/results/h200-textbook.csv \
	bench/results/h200-tuning.csv bench/results/h200-values.csv bench/results/xeon-characters.csv bench/results/xeon-cpu.csv \
	bench/results/guard-x86-64.csv bench/results/xeon-fields.csv bench/results/xeon-merge.csv

if HAVE_CUDA
cuda_benchmarks = bench/character_kernels bench/kernels bench/number_kernels bench/pair_kernels bench/textbook bench/value_kernels bench/decode_stages
endif
# Linked as the program is, so that LDFLAGS holds for them too, which nvcc does not take.
cuda_benchmark_libs = gpu/count/kernel_table.o gpu/decode/stage_table.o bench/libdata.a libgpuhisto.a libhistogram.a
bench/character_kernels: bench/character_kernels.o
bench/kernels: bench/kernels.o
bench/number_kernels: bench/number_kernels.o
bench/pair_kernels: bench/pair_kernels.o
bench/textbook: bench/textbook.o
bench/value_kernels: bench/value_kernels.o
bench/decode_stages: bench/decode_stages.o
bench/character_kernels bench/kernels bench/number_kernels bench/pair_kernels bench/textbook bench/value_kernels bench/decode_stages: $(cuda_benchmark_libs)
	$(AM_V_CXXLD)$(CXX) $(AM_LDFLAGS) $(LDFLAGS) -o $@ $@.o $(cuda_benchmark_libs) $(CUDA_LIBS) $(LIBS)
-include bench/character_kernels.o.d bench/kernels.o.d bench/number_kernels.o.d bench/pair_kernels.o.d bench/textbook.o.d bench/value_kernels.o.d bench/decode_stages.o.d
MOSTLYCLEANFILES += bench/*.o.d

# By hand, see its head: nvCOMP is not looked for.
NVCOMP = /usr
bench/zstd_nvcomp: bench/zstd_nvcomp.cu bench/device.cuh bench/read_file.cuh
	@$(MKDIR_P) bench
	$(AM_V_NVCC)$(NVCC) $(CUDA_GENCODE) -std=c++17 -O3 -I$(srcdir) $(CUDA_CPPFLAGS) $(NVCC_HOST_FLAGS) $(NVCCFLAGS) \
	  -I$(NVCOMP)/include -c -o $@.o $(srcdir)/$@.cu
	$(AM_V_CXXLD)$(CXX) $(AM_LDFLAGS) $(LDFLAGS) -o $@ $@.o $(NVCOMP)/lib64/libnvcomp.so.6 \
	  -Wl,-rpath,$(NVCOMP)/lib64 $(CUDA_LIBS) $(LIBS)

.PHONY: bench bench-by bench-characters bench-fields bench-guard bench-scaling bench-startup bench-stream bench-tasks
bench: $(benchmarks) $(cuda_benchmarks)
bench-stream: bench gpuhisto$(EXEEXT) tests/helpers/make_zstd$(EXEEXT) tests/helpers/make_data$(EXEEXT)
	@GPUHISTO=./gpuhisto$(EXEEXT) HELPERS=bench $(srcdir)/bench/stream $(STREAMFLAGS)
bench-by: bench/pairs gpuhisto$(EXEEXT)
	@GPUHISTO=./gpuhisto$(EXEEXT) HELPERS=bench $(srcdir)/bench/by $(BYFLAGS)
bench-characters: bench/pairs gpuhisto$(EXEEXT)
	@GPUHISTO=./gpuhisto$(EXEEXT) HELPERS=bench $(srcdir)/bench/characters $(CHARACTERSFLAGS)
bench-guard: gpuhisto$(EXEEXT)
	@GPUHISTO=./gpuhisto$(EXEEXT) $(srcdir)/bench/guard $(GUARDFLAGS)
bench-scaling: gpuhisto$(EXEEXT)
	@python3 $(srcdir)/bench/scaling.py $(SCALINGFLAGS)
bench-startup: gpuhisto$(EXEEXT)
	@python3 $(srcdir)/bench/startup.py $(STARTUPFLAGS)
bench-tasks: gpuhisto$(EXEEXT)
	@python3 $(srcdir)/bench/tasks.py $(TASKSFLAGS)
bench-fields: bench/pairs gpuhisto$(EXEEXT)
	@GPUHISTO=./gpuhisto$(EXEEXT) HELPERS=bench $(srcdir)/bench/fields $(FIELDSFLAGS)
CLEANFILES += $(cuda_benchmarks) bench/zstd_nvcomp
