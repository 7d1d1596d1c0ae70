# sfflow: Amazon States Language workflows inside PostgreSQL.
# `make help` lists what there is to do.

# What is made and removed has names relative to this folder, which may stand anywhere: make and shell take a
# blank in a path for its end. From another folder (make -f) the same names would be other people's files.
ifeq ($(wildcard src/sfflow.c),)
$(error run make in the folder of sfflow's Makefile)
endif

EXTENSION = sfflow
EXTVERSION = 0.1.0
MODULE_big = sfflow

# A folder is a layer; a new .c file in one of them is picked up by itself.
LAYERS = base json jsonata expr asl graph store rule report machine run task worker schedule api aws
SRCS = $(sort $(foreach layer,$(LAYERS),$(wildcard src/$(layer)/*.c))) src/sfflow.c
OBJS = $(SRCS:.c=.o)

SQL_SCRIPT = sql/$(EXTENSION)--$(EXTVERSION).sql
SQL_PARTS = $(sort $(wildcard sql/parts/*.sql))
DATA_built = $(SQL_SCRIPT)

PG_CONFIG ?= pg_config
# PostgreSQL's headers count as system headers, so that -Wextra speaks about our code only. A
# callback has the signature that PostgreSQL wants, whether it needs every parameter or not.
PG_CPPFLAGS = -Isrc -isystem $(shell $(PG_CONFIG) --includedir-server) -DSFFLOW_VERSION='"$(EXTVERSION)"'
PG_CFLAGS = -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Werror -MMD -MP
# Where PostgreSQL was built with link-time optimisation, the linker compiles once more and warns of
# what only seems to be wrong.
SHLIB_LINK = -Wno-error
EXTRA_CLEAN = $(OBJS:.o=.d) src/base/condition_names.h tmp_install tmp_check results regression.diffs regression.out output_iso

# installcheck below; PGXS's own drops its database, which fails while a worker is connected.
NO_INSTALLCHECK = 1

# Bitcode for the JIT triples the time of a build: `make with_llvm=yes` where a package wants it.
ifneq ($(origin with_llvm),command line)
override with_llvm := no
endif

PGXS := $(shell $(PG_CONFIG) --pgxs)
ifneq ($(PGXS),)
include $(PGXS)
else
all install:
	@echo 'pg_config not found: install PostgreSQL and its server headers (postgresql-server-dev-15)'; exit 1
endif

-include $(OBJS:.o=.d)

src/task/failure.o: src/base/condition_names.h
src/base/condition_names.h: src/base/condition_names.awk
	@awk -f $< $(shell $(PG_CONFIG) --includedir-server)/utils/errcodes.h > $@.tmp && mv $@.tmp $@

# sfworker, which goes where PostgreSQL's programs are. It has a Makefile of its own.
CLIENT = src/client/sfworker

all: $(CLIENT)

$(CLIENT): $(wildcard src/client/*.[ch]) src/base/sqlstates.h src/base/conditions.h src/base/condition_names.h src/client/Makefile
	$(MAKE) -C src/client PG_CONFIG='$(PG_CONFIG)' VERSION='$(EXTVERSION)'

# A relative DESTDIR counts from here.
CLIENT_DESTDIR = $(if $(DESTDIR),$(if $(filter /%,$(firstword $(DESTDIR))),,../../)$(DESTDIR))

install: install-client
install-client: $(CLIENT)
	$(MAKE) -C src/client PG_CONFIG='$(PG_CONFIG)' VERSION='$(EXTVERSION)' DESTDIR='$(CLIENT_DESTDIR)' install

uninstall: uninstall-client
uninstall-client:
	$(MAKE) -C src/client PG_CONFIG='$(PG_CONFIG)' DESTDIR='$(CLIENT_DESTDIR)' uninstall

clean: clean-client
clean-client:
	$(MAKE) -C src/client clean

# The install script is its parts, in order, with the numbers of the enums of these headers.
SQL_HEADERS = src/store/branch.h src/store/task.h
$(SQL_SCRIPT): sql/numbers.awk $(SQL_HEADERS) $(SQL_PARTS) Makefile
	@{ printf '%s\n' '\echo Use "CREATE EXTENSION $(EXTENSION)" to load this file. \quit' && \
	   awk -f sql/numbers.awk $(SQL_HEADERS) $(SQL_PARTS); } > $@.tmp && mv $@.tmp $@
	@echo "assembled $@"

# A private PostgreSQL with the extension in it, under tmp_install/. Executables find their share
# directory relative to themselves, which is why they are copied and not linked; pg_config would
# do so too, and mislead whoever finds it in the PATH.
override TMP_INSTALL := tmp_install
PG_BINDIR := $(shell $(PG_CONFIG) --bindir)
PG_PKGLIBDIR := $(shell $(PG_CONFIG) --pkglibdir)
PG_SHAREDIR := $(shell $(PG_CONFIG) --sharedir)

tmp-install: $(TMP_INSTALL)/.sfflow

$(TMP_INSTALL)/.postgresql: $(PG_BINDIR)/postgres $(PG_PKGLIBDIR) $(PG_SHAREDIR)/extension
	@rm -rf $(TMP_INSTALL)
	@mkdir -p $(TMP_INSTALL)$(PG_BINDIR) $(TMP_INSTALL)$(PG_PKGLIBDIR) $(TMP_INSTALL)$(PG_SHAREDIR)
	cp -a $(PG_BINDIR)/. $(TMP_INSTALL)$(PG_BINDIR)/
	@rm -f $(TMP_INSTALL)$(PG_BINDIR)/pg_config
	cp -a $(PG_PKGLIBDIR)/. $(TMP_INSTALL)$(PG_PKGLIBDIR)/
	cp -a $(PG_SHAREDIR)/. $(TMP_INSTALL)$(PG_SHAREDIR)/
	@touch $@

$(TMP_INSTALL)/.sfflow: $(TMP_INSTALL)/.postgresql $(shlib) $(CLIENT) $(SQL_SCRIPT) $(EXTENSION).control
	$(MAKE) -s install DESTDIR=$(TMP_INSTALL)
	@touch $@

# All suites against a throw-away server, or some: make test SUITES="regress cases" TESTS="name".
# Missing packages are installed when root on Debian, else named.
test:
	@test/tools/packages
	@$(MAKE) -s tmp-install
	@test/run $(SUITES) $(if $(TESTS),--tests $(TESTS))

# More suites with the library under sanitizers than make test runs.
test-memory:
	@test/tools/packages
	@test/memory/run $(SUITES) $(if $(TESTS),--tests $(TESTS))

# The tests on other releases of PostgreSQL, in chroots: make test-versions RELEASES="17 18".
test-versions:
	@test/versions/run $(RELEASES)

# The regression tests against the running server that PGHOST and PGPORT name, with the library
# preloaded there. They get a database of their own.
installcheck:
	@test/tools/installcheck

demo:
	@test/tools/packages
	@$(MAKE) -s tmp-install
	@test/demo/run

bench:
	@test/tools/packages
	@$(MAKE) -s tmp-install
	@test/bench/run $(BENCH)

# The models of the protocols, in all configurations and with all mutations, some minutes.
model:
	@test/tools/packages
	@test/model/run $(MODELS)

# Faults in rounds against a workload with an exact ledger, and the same at random for SOAK_MINUTES.
FAULT_ROUNDS ?= 5
SOAK_MINUTES ?= 60
faults:
	@test/tools/packages
	@$(MAKE) -s tmp-install
	@FAULT_ROUNDS=$(FAULT_ROUNDS) FAULTS='$(FAULTS)' test/run tap --tests 156_faults

soak:
	@test/tools/packages
	@$(MAKE) -s tmp-install
	@SOAK_MINUTES=$(SOAK_MINUTES) test/run tap --tests 157_soak

# Conventions that a compiler does not check.
lint:
	@status=0; for check in test/lint/*; do [ -x $$check ] || continue; $$check || status=1; done; exit $$status

help:
	@echo 'make                build the extension and sfworker'
	@echo 'make install        install them into the PostgreSQL that pg_config names'
	@echo 'make demo           a nightly batch that fails, is repaired and redriven, on a throw-away server'
	@echo 'make test           all tests, on throw-away servers (SUITES="regress tap" TESTS="name": some)'
	@echo 'make test-memory    suites with the library under sanitizers (SUITES, TESTS as for make test)'
	@echo 'make test-versions  the tests on PostgreSQL 16, 17 and 18, in chroots (RELEASES="17 18")'
	@echo 'make installcheck   the regression tests against a running server with the library preloaded'
	@echo 'make bench          measurements against floors of the same run'
	@echo 'make model          the models of the protocols, with spin, some minutes'
	@echo 'make faults         every fault in rounds against an exact ledger (FAULT_ROUNDS=5, FAULTS=pattern)'
	@echo 'make soak           load and random faults for an hour (SOAK_MINUTES=10)'
	@echo 'make lint           conventions that a compiler does not check'
	@echo 'make tmp-install    a private PostgreSQL with the extension, under tmp_install/'
	@echo 'make clean          remove everything that was built'

.PHONY: install-client uninstall-client clean-client tmp-install test test-memory test-versions installcheck demo bench model faults soak lint help
