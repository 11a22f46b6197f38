# SPDX-License-Identifier: MIT
# --- what a release needs beside the program ---
EXTRA_DIST += release/source_date

# --- what the program consists of, as a bill of materials ---

nodist_doc_DATA = gpuhisto.cdx.json
gpuhisto.cdx.json: Makefile release/make_sbom release/licences release/source_date
	$(AM_V_GEN)$(SHELL) $(srcdir)/release/make_sbom $(srcdir) $(VERSION) $(SBOM_COMPONENTS) >$@.new && mv $@.new $@
CLEANFILES += gpuhisto.cdx.json
EXTRA_DIST += release/make_sbom release/licences

# --- completions of the command line, from its table of options ---

bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
# They are made by a program, which a cross build runs only if configure was given an EMULATOR.
if MAKES_COMPLETIONS
nodist_bashcompletion_DATA = completions/gpuhisto.bash
nodist_zshcompletion_DATA = completions/_gpuhisto
nodist_fishcompletion_DATA = completions/gpuhisto.fish
endif
noinst_PROGRAMS = src/cli/make_completions
src_cli_make_completions_SOURCES = src/cli/make_completions.c
src_cli_make_completions_LDADD = $(gpuhisto_LDADD)
src_cli_make_completions_LDFLAGS = $(gpuhisto_LDFLAGS)
make_completions = $(MKDIR_P) completions; $(EMULATOR) src/cli/make_completions$(EXEEXT)
completions/gpuhisto.bash completions/_gpuhisto completions/gpuhisto.fish: src/cli/make_completions$(EXEEXT)
completions/gpuhisto.bash:
	$(AM_V_GEN)$(make_completions) bash >$@.new && mv $@.new $@
completions/_gpuhisto:
	$(AM_V_GEN)$(make_completions) zsh >$@.new && mv $@.new $@
completions/gpuhisto.fish:
	$(AM_V_GEN)$(make_completions) fish >$@.new && mv $@.new $@
CLEANFILES += completions/gpuhisto.bash completions/_gpuhisto completions/gpuhisto.fish

# --- Debian packages: make deb, DEBFLAGS=-Ppkg.gpuhisto.cuda with CUDA too ---

.PHONY: deb
deb: dist
	$(SHELL) $(srcdir)/release/make_deb $(srcdir) $(distdir).tar.gz deb $(DEBFLAGS)
	@if command -v lintian >/dev/null; then lintian --fail-on=error,warning --info deb/*.changes; \
	else echo "lintian is not installed: the packages were not checked"; fi
EXTRA_DIST += release/make_deb
