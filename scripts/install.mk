# install.mk: `make install`: libseqmix (kernels, model, tasks), libseqmix_ref (the oracle alone), each static
# and shared, headers, pkg-config and CMake files, the program, man pages, docs and examples. Every library is
# one object, linked from position-independent code, whose only global symbols are the functions of its
# headers (scripts/exports.sh): inner names can meet nothing, in the shared library or in the static one.
PREFIX ?= /usr/local
DESTDIR ?=
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
VERSION := $(shell sed -n 's/^\#define SMX_VERSION "\(.*\)"/\1/p' include/seqmix/smx.h)
SOVERSION := $(firstword $(subst ., ,$(VERSION)))

PUBLIC_HEADERS := $(notdir $(wildcard include/seqmix/*.h))

PACK := $(BIN)/lib
$(PACK)/seqmix.whole.o: $(KERNEL_OBJ) $(MODEL_SRC:%.c=$(OBJ)/%.o) $(TASK_SRC:%.c=$(OBJ)/%.o)
$(PACK)/seqmix_ref.whole.o: $(REF_SRC:%.c=$(OBJ)/%.o)
$(PACK)/%.whole.o:
	@mkdir -p $(@D) && ld -r $^ -o $@
$(PACK)/seqmix.exports: scripts/exports.sh $(addprefix include/seqmix/,smx.h run.h state.h data.h)
	@mkdir -p $(@D) && $^ >$@
$(PACK)/seqmix_ref.exports: scripts/exports.sh $(addprefix include/seqmix/,ref.h ref_cores.h ref_layers.h)
	@mkdir -p $(@D) && $^ >$@
$(PACK)/%.o: $(PACK)/%.whole.o $(PACK)/%.exports
	@objcopy --strip-debug --keep-global-symbols=$(PACK)/$*.exports $< $@
.SECONDARY: $(PACK)/seqmix.o $(PACK)/seqmix_ref.o
$(PACK)/lib%.a: $(PACK)/%.o
	@rm -f $@ && ar rcs $@ $<
NEEDS_seqmix := -lz
$(PACK)/lib%.so.$(VERSION): $(PACK)/%.o
	@$(CC) -shared -Wl,-soname,lib$*.so.$(SOVERSION) -Wl,-z,defs $(LDFLAGS) $< $(NEEDS_$*) -lm -o $@
LIBRARIES := $(foreach l,seqmix seqmix_ref,$(PACK)/lib$l.a $(PACK)/lib$l.so.$(VERSION))

# (from $1 to $2)
relative = $(shell realpath -ms --relative-to='$1' '$2')
# $1 a library, $2 what it is, $3 what its static form needs. Its paths are relative to the file, so that an
# installed tree may be moved.
define pkgconfig
prefix=$${pcfiledir}/$(call relative,$(LIBDIR)/pkgconfig,$(PREFIX))\nlibdir=$${prefix}/$(call relative,$(PREFIX),$(LIBDIR))\nincludedir=$${prefix}/$(call relative,$(PREFIX),$(INCLUDEDIR))\n\nName: $1\nDescription: $2\nVersion: $(VERSION)\nLibs: -L$${libdir} -l$1\nLibs.private: $3\nCflags: -I$${includedir}\n
endef

CMAKE_FILES := seqmix-config.cmake seqmix-config-version.cmake
INSTALLED := $(BINDIR)/seqmix $(foreach l,seqmix seqmix_ref,$(foreach f,a so so.$(SOVERSION) so.$(VERSION),$(LIBDIR)/lib$l.$f) $(LIBDIR)/pkgconfig/$l.pc) $(CMAKE_FILES:%=$(LIBDIR)/cmake/seqmix/%) \
    $(foreach h,$(PUBLIC_HEADERS),$(INCLUDEDIR)/seqmix/$h) $(DATADIR)/man/man1/seqmix.1 $(DATADIR)/man/man5/seqmix-config.5 \
    $(foreach d,LICENSE ORACLE.md check.c check.py,$(DATADIR)/doc/seqmix/$d)

# For everybody, whatever the umask of who installs.
READABLE := umask 022;
.PHONY: install uninstall
install: $(BIN)/seqmix $(LIBRARIES) ## libraries, headers, program, man pages to PREFIX (/usr/local), below DESTDIR
	@[ "$$(uname -s)" = Linux ] || { echo "make install: ELF libraries are made on Linux; this is $$(uname -s)" >&2; exit 1; }
	@$(READABLE) mkdir -p $(addprefix '$(DESTDIR)',$(sort $(dir $(INSTALLED))))
	@install -s -m 755 $(BIN)/seqmix '$(DESTDIR)$(BINDIR)/seqmix'
	@for l in seqmix seqmix_ref; do \
	    install -m 644 $(PACK)/lib$$l.a '$(DESTDIR)$(LIBDIR)' && \
	    install -m 755 $(PACK)/lib$$l.so.$(VERSION) '$(DESTDIR)$(LIBDIR)' && \
	    ln -sf lib$$l.so.$(VERSION) '$(DESTDIR)$(LIBDIR)'/lib$$l.so.$(SOVERSION) && \
	    ln -sf lib$$l.so.$(SOVERSION) '$(DESTDIR)$(LIBDIR)'/lib$$l.so || exit 1; done
	@$(READABLE) printf '$(call pkgconfig,seqmix,sequence-mixing kernels and tiny models that train,-lz -lm)' >'$(DESTDIR)$(LIBDIR)/pkgconfig/seqmix.pc'
	@$(READABLE) printf '$(call pkgconfig,seqmix_ref,double-precision oracle of sequence-mixing mechanisms,-lm)' >'$(DESTDIR)$(LIBDIR)/pkgconfig/seqmix_ref.pc'
	@$(READABLE) for f in $(CMAKE_FILES); do \
	    sed -e 's|@VERSION@|$(VERSION)|; s|@SOVERSION@|$(SOVERSION)|' -e "s|@INCLUDE@|$$(realpath -m --relative-to='$(LIBDIR)' '$(INCLUDEDIR)')|" \
	        scripts/$$f.in >'$(DESTDIR)$(LIBDIR)/cmake/seqmix/'$$f || exit 1; done
	@install -m 644 $(PUBLIC_HEADERS:%=include/seqmix/%) '$(DESTDIR)$(INCLUDEDIR)/seqmix'
	@$(READABLE) $(BIN)/seqmix help --man >'$(DESTDIR)$(DATADIR)/man/man1/seqmix.1'
	@$(READABLE) $(BIN)/seqmix help --man=config >'$(DESTDIR)$(DATADIR)/man/man5/seqmix-config.5'
	@install -m 644 LICENSE docs/ORACLE.md examples/oracle/check.c examples/oracle/check.py '$(DESTDIR)$(DATADIR)/doc/seqmix'
	@echo "installed seqmix $(VERSION) to $(DESTDIR)$(PREFIX)"

uninstall: ## remove what install put there
	@rm -f $(foreach f,$(INSTALLED),'$(DESTDIR)$f')
	@rmdir '$(DESTDIR)$(INCLUDEDIR)/seqmix' '$(DESTDIR)$(LIBDIR)/cmake/seqmix' '$(DESTDIR)$(LIBDIR)/cmake' '$(DESTDIR)$(DATADIR)/doc/seqmix' 2>/dev/null || :
	@echo "removed seqmix from $(DESTDIR)$(PREFIX)"

.PHONY: amalgamation
amalgamation: ## in two files each: the kernels, build/amalgamation/seqmix.[ch], and the oracle, seqmix_ref.[ch]; an archive of them for CMake
	@node scripts/amalgamate.mjs build/amalgamation && echo 'built build/amalgamation/{seqmix,seqmix_ref}.{c,h} and seqmix-c-$(VERSION).tar.gz'
