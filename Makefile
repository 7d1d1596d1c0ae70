# sfflow: Amazon States Language workflows inside PostgreSQL.
# `make help` lists what there is to do.

# What is made and removed has names relative to this folder, which may stand anywhere: make and shell take a
# blank in a path for its end. From another folder (make -f) the same names would be other people's files.
ifeq ($(wildcard src/sfflow.c),)
$(error run make in the folder of sfflow's Makefile)
endif

EXTENSION = sfflow
# The release of the library and the programs, X.Y.Z. The extension's version is X.Y, that of its schema: a patch
# release changes no object of SQL.
RELEASE = 1.1.0
EXTVERSION = $(basename $(RELEASE))
MODULE_big = sfflow

# A folder is a layer, which may have groups: folders in it. A new .c file in one of them is picked up by itself.
LAYERS = base json jsonata expr asl cloud graph db store copy quota report transition run sql_task worker api feature aws aws_api

# A folder in src/feature/ is a feature; `make WITHOUT="hold"` builds without some of those that the rest does not need. What
# was left out the last time is written down, since it changes what has to be made anew. NEEDS_x lists the features without
# which x cannot be, whose headers it includes.
OPTIONAL_FEATURES = archive deadline event hold home human label limit mcp move node rule start_key trace
ifneq ($(filter-out $(OPTIONAL_FEATURES),$(WITHOUT)),)
$(error sfflow cannot be built without "$(firstword $(filter-out $(OPTIONAL_FEATURES),$(WITHOUT)))": the features that can be left out are $(OPTIONAL_FEATURES))
endif
NEEDS_deadline = schedule
NEEDS_event = rule
NEEDS_move = home node
override WITHOUT := $(sort $(WITHOUT) $(foreach f,deadline event move,$(if $(filter $(NEEDS_$f),$(WITHOUT)),$f)))
FEATURES = $(filter-out $(WITHOUT),$(patsubst src/feature/%/,%,$(sort $(wildcard src/feature/*/))))
LEFT_OUT = src/feature/.without
ifneq ($(WITHOUT),$(if $(wildcard $(LEFT_OUT)),$(shell cat $(LEFT_OUT))))
$(shell echo '$(WITHOUT)' >$(LEFT_OUT))
endif

GROUPS = $(patsubst src/%/,%,$(wildcard $(patsubst %,src/%/*/,$(filter-out feature,$(LAYERS)))))
SRCS = $(sort $(foreach folder,$(LAYERS) $(GROUPS) $(addprefix feature/,$(FEATURES)),$(wildcard src/$(folder)/*.c))) src/sfflow.c
OBJS = $(SRCS:.c=.o)

SQL_SCRIPT = sql/$(EXTENSION)--$(EXTVERSION).sql
# The parts in the order that a file has, and those of features, NAME.sql and NAME-*.sql in sql/parts/feature/, which go where
# the others have slots for them.
SQL_FEATURE_PARTS = $(foreach feature,$(FEATURES),$(wildcard sql/parts/feature/$(feature).sql sql/parts/feature/$(feature)-*.sql))
SQL_ORDER = sql/parts/order
SQL_PARTS := $(sort $(SQL_FEATURE_PARTS)) $(addprefix sql/parts/,$(shell sed '/^--/d' $(SQL_ORDER)))
# An update to this version is written by hand for the tables, sql/updates/X.Y--X.Y.sql, and has all functions and views
# again. Scripts of versions that are out are shipped as they were.
SQL_UPDATES = $(patsubst sql/updates/%,sql/$(EXTENSION)--%,$(wildcard sql/updates/*--$(EXTVERSION).sql))
DATA = $(filter-out %/$(notdir $(SQL_SCRIPT)),$(wildcard test/frozen/*/$(EXTENSION)--*.sql))
DATA_built = $(SQL_SCRIPT) $(SQL_UPDATES)

PG_CONFIG ?= pg_config
# What pg_config says of one of its options: nothing where there is none, which is said once, below.
pg_config_of = $(shell $(PG_CONFIG) --$1 2>/dev/null)
# PostgreSQL's headers count as system headers, so that -Wextra speaks about our code only. A
# callback has the signature that PostgreSQL wants, whether it needs every parameter or not.
PG_CPPFLAGS = -Isrc -include base/version/minor.h -isystem $(call pg_config_of,includedir-server) -isystem $(call pg_config_of,includedir) -DSFFLOW_VERSION='"$(RELEASE)"'
# From 19 on the headers are for the language that the server was compiled as. A feature is declared where all are listed.
# In a released source a warning of a newer compiler stops nothing.
WERROR ?= $(if $(wildcard .git),-Werror)
PG_CFLAGS = $(if $(filter 15 16 17 18,$(MAJORVERSION)),-std=gnu11) -Wno-missing-variable-declarations -Wall -Wextra -Wno-unused-parameter $(WERROR) -MMD -MP
# Where PostgreSQL was built with link-time optimisation, the linker compiles once more and warns of
# what only seems to be wrong.
SHLIB_LINK = -Wno-error
EXTRA_CLEAN = $(OBJS:.o=.d) $(LEFT_OUT) src/base/error/condition_names.h tmp_install tmp_check dist results regression.diffs regression.out output_iso

# installcheck below; PGXS's own drops its database, which fails while a worker is connected.
NO_INSTALLCHECK = 1

# Bitcode for the JIT triples the time of a build: with_llvm=yes, on the command line or in the environment, where a
# package wants it. PGXS sets what PostgreSQL was built with, over the environment.
override with_llvm := $(if $(filter command environment,$(firstword $(origin with_llvm))),$(with_llvm),no)

PGXS := $(call pg_config_of,pgxs)
ifneq ($(PGXS),)
include $(PGXS)
else
all install:
	@echo 'pg_config not found: install PostgreSQL and its server headers (on Debian 12 postgresql-server-dev-15)'; exit 1
endif

-include $(OBJS:.o=.d)

# The extension without the programs; `make PROGRAMS= install` installs just it.
extension: $(shlib) $(SQL_SCRIPT) $(if $(filter yes,$(with_llvm)),$(OBJS:.o=.bc))

# They say the release.
src/sfflow.o src/api/monitoring/health_functions.o: Makefile
src/sql_task/failure.o: src/base/error/condition_names.h
src/aws/shapes.o: src/aws/shapes.bin
src/base/error/condition_names.h: src/base/error/condition_names.awk
	@awk -f $< $(shell $(PG_CONFIG) --includedir-server)/utils/errcodes.h > $@.tmp && mv $@.tmp $@

# sfworker and sfgateway, which go where PostgreSQL's programs are if a shell finds them there, else to /usr/local/bin;
# BINDIR and MANDIR say otherwise. They have Makefiles of their own.
PROGRAMS = src/tools/sfworker/sfworker src/tools/sfgateway/sfgateway

all: $(PROGRAMS)

CLIENT_SOURCES = $(wildcard src/tools/client/*.[ch]) src/tools/program.mk

src/tools/sfworker/sfworker: $(CLIENT_SOURCES) $(wildcard $(addprefix src/tools/sfworker/,*.[ch] */*.[ch])) src/base/error/sqlstates.h \
	src/base/error/conditions.h src/base/error/condition_names.h src/tools/sfworker/Makefile
	$(MAKE) -C src/tools/sfworker PG_CONFIG='$(PG_CONFIG)' VERSION='$(RELEASE)'

GATEWAY_SOURCES = $(CLIENT_SOURCES) $(wildcard $(addprefix src/tools/sfgateway/,*.[ch] */*.[ch] console console/* console/*/*)) \
	src/tools/sfgateway/embed.awk src/tools/sfgateway/Makefile src/base/error/sqlstates.h
src/tools/sfgateway/sfgateway-asan: src/tools/sfgateway/sfgateway
src/tools/sfgateway/sfgateway src/tools/sfgateway/sfgateway-asan: $(GATEWAY_SOURCES)
	$(MAKE) -C src/tools/sfgateway PG_CONFIG='$(PG_CONFIG)' VERSION='$(RELEASE)' $(@F)

PROGRAM_FOLDERS = BINDIR='$(BINDIR)' MANDIR='$(MANDIR)' DESTDIR='$(PROGRAM_DESTDIR)'

# A relative DESTDIR counts from here.
PROGRAM_DESTDIR = $(if $(DESTDIR),$(if $(filter /%,$(firstword $(DESTDIR))),,../../../)$(DESTDIR))

install: install-programs
install-programs: $(PROGRAMS)
	for folder in $(^D); do \
		$(MAKE) -C $$folder PG_CONFIG='$(PG_CONFIG)' VERSION='$(RELEASE)' $(PROGRAM_FOLDERS) install || exit; done

uninstall: uninstall-programs
uninstall-programs:
	for folder in $(dir $(PROGRAMS)); do \
		$(MAKE) -C $$folder PG_CONFIG='$(PG_CONFIG)' $(PROGRAM_FOLDERS) uninstall || exit; done

# The units of systemd, which install leaves out: they go into a folder that is not PostgreSQL's.
install-unit uninstall-unit:
	for folder in $(dir $(PROGRAMS)); do \
		$(MAKE) -C $$folder PG_CONFIG='$(PG_CONFIG)' $(PROGRAM_FOLDERS) $@ || exit; done

clean: clean-programs
clean-programs:
	for folder in $(dir $(PROGRAMS)); do $(MAKE) -C $$folder clean || exit; done

$(shlib): $(wildcard $(LEFT_OUT))

# The install script is its parts, in order, with the numbers of the enums of these headers.
SQL_HEADERS = src/base/version/schema.h src/base/name/work_key.h src/store/branch/branch.h src/store/branch/phase.h src/store/branch/park.h src/store/execution/status.h \
	src/store/alert/alert.h src/store/history/history_event.h src/store/history/mark_outcome.h src/store/role/object_kind.h src/store/role/privilege.h \
	src/store/task/task.h src/feature/human/human.h src/feature/start_key/start_key.h \
	src/feature/schedule/schedule.h src/feature/schedule/noted_runs.h src/feature/schedule/calendar.h src/feature/deadline/deadline.h \
	src/feature/hold/hold.h src/feature/limit/limit.h src/feature/limit/limit_slot_lock.h src/feature/rule/rule.h \
	src/feature/event/event_by_key.h src/feature/trace/trace.h
$(SQL_SCRIPT): sql/assemble.awk $(SQL_HEADERS) $(SQL_ORDER) $(SQL_PARTS) $(wildcard $(LEFT_OUT)) Makefile
	@rm -f $(filter-out $(DATA_built),$(wildcard sql/$(EXTENSION)--*.sql))
	@{ printf '%s\n' '\echo Use "CREATE EXTENSION $(EXTENSION)" to load this file. \quit' && \
	   awk -v features='$(FEATURES)' -f sql/assemble.awk $(SQL_HEADERS) $(SQL_PARTS); } > $@.tmp && mv $@.tmp $@
	@echo "assembled $@"

$(SQL_UPDATES): sql/$(EXTENSION)--%.sql: sql/updates/%.sql $(SQL_SCRIPT) sql/update.awk
	@{ awk -v features='$(FEATURES)' -f sql/assemble.awk $(SQL_HEADERS) $< && awk -f sql/update.awk $(SQL_SCRIPT); } > $@.tmp && mv $@.tmp $@
	@echo "assembled $@"

# A private PostgreSQL with the extension in it, under tmp_install/. Executables find their share
# directory relative to themselves, which is why they are copied and not linked; pg_config would
# do so too, and mislead whoever finds it in the PATH.
override TMP_INSTALL := tmp_install
PG_BINDIR := $(call pg_config_of,bindir)
PG_PKGLIBDIR := $(call pg_config_of,pkglibdir)
PG_SHAREDIR := $(call pg_config_of,sharedir)

# Programs that only tests use.
TEST_PROGRAMS = src/tools/sfgateway/sfgateway-asan

# What of sfflow is there is told by the name of a file: PGXS has make pass over a program that is missing when what
# is made of it is newer than its sources.
INSTALLED = sfflow
tmp-install: $(TMP_INSTALL)/.$(INSTALLED)

# The copy is of another server than pg_config names now.
ifeq ($(wildcard $(TMP_INSTALL)$(PG_BINDIR)/postgres),)
.PHONY: $(TMP_INSTALL)/.postgresql
endif

$(TMP_INSTALL)/.postgresql: $(PG_BINDIR)/postgres $(PG_PKGLIBDIR) $(PG_SHAREDIR)/extension
	@rm -rf $(TMP_INSTALL)
	@mkdir -p $(TMP_INSTALL)$(PG_BINDIR) $(TMP_INSTALL)$(PG_PKGLIBDIR) $(TMP_INSTALL)$(PG_SHAREDIR)
	cp -a $(PG_BINDIR)/. $(TMP_INSTALL)$(PG_BINDIR)/
	@rm -f $(TMP_INSTALL)$(PG_BINDIR)/pg_config
	cp -a $(PG_PKGLIBDIR)/. $(TMP_INSTALL)$(PG_PKGLIBDIR)/
	cp -a $(PG_SHAREDIR)/. $(TMP_INSTALL)$(PG_SHAREDIR)/
	@touch $@

$(TMP_INSTALL)/.$(INSTALLED): $(TMP_INSTALL)/.postgresql $(shlib) $(PROGRAMS) $(TEST_PROGRAMS) $(SQL_SCRIPT) $(DATA_built) $(DATA) $(EXTENSION).control
	@rm -f $(TMP_INSTALL)$(PG_SHAREDIR)/extension/$(EXTENSION)--*.sql
	$(MAKE) -s install DESTDIR=$(TMP_INSTALL) BINDIR=$(PG_BINDIR)
	$(if $(TEST_PROGRAMS),@cp --remove-destination $(TEST_PROGRAMS) $(TMP_INSTALL)$(PG_BINDIR)/)
	@touch $@

# As many compilers as there are processors, unless the caller says how many.
PARALLEL = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

# What a target needs is installed when root on Debian, else named: test/tools/packages.
PREPARE = test/tools/packages
PREPARE_TEST = @$(PREPARE) test >/dev/null

# All suites against a throw-away server, or some: make test SUITES="regress cases" TESTS="name".
test:
	$(PREPARE_TEST)
	@$(MAKE) -s $(PARALLEL) tmp-install
	@WITHOUT='$(WITHOUT)' test/run $(SUITES) $(if $(TESTS),--tests $(TESTS))

# The suites but for a feature's own tests, with the library built without it, one feature after the other.
test-without:
	$(PREPARE_TEST)
	@status=0; for feature in $(OPTIONAL_FEATURES); do echo "== without $$feature"; \
		$(MAKE) -s test WITHOUT=$$feature SUITES='$(or $(SUITES),regress pgtap isolation cases tap)' TESTS='$(TESTS)' || status=1; \
	done; $(MAKE) -s $(PARALLEL) tmp-install; exit $$status

# More suites with the library under sanitizers than make test runs.
test-memory:
	$(PREPARE_TEST)
	@test/memory/run $(SUITES) $(if $(TESTS),--tests $(TESTS))

# The tests on other releases of PostgreSQL, in chroots: make test-versions RELEASES="17 18".
test-versions:
	@test/platforms/majors $(RELEASES)

# The demo and the console on fresh systems, in chroots: make test-demo SYSTEMS="bookworm trixie".
test-demo:
	@test/platforms/demo $(SYSTEMS)

# The regression tests against the running server that PGHOST and PGPORT name, with the library
# preloaded there. They get a database of their own.
installcheck:
	@test/tools/installcheck

# The demo and the console build no program that they do not run. $(call with_server,TARGET,PROGRAMS,COMMAND)
# runs COMMAND with the server that TARGET can use, and with sfflow in it.
with_server = @pg_config=$$($(PREPARE) $1) && export PG_CONFIG="$$pg_config" && \
	$(MAKE) -s $(PARALLEL) tmp-install PG_CONFIG="$$pg_config" INSTALLED=$1 PROGRAMS='$2' TEST_PROGRAMS= && $3

demo:
	$(call with_server,demo,,test/demo/run)

# The demo's night with the console on a port of the loopback, until Ctrl-C: make console PORT=8083.
console:
	$(call with_server,console,src/tools/sfgateway/sfgateway,PORT='$(PORT)' test/demo/console)

bench:
	$(PREPARE_TEST)
	@$(MAKE) -s $(PARALLEL) tmp-install
	@test/bench/run $(BENCH)

# The models of the protocols, in all configurations and with all mutations, some minutes.
model:
	@$(PREPARE) model >/dev/null
	@test/model/run $(MODELS)

# Faults in rounds against a workload with an exact ledger, and the same at random for SOAK_MINUTES.
FAULT_ROUNDS ?= 5
SOAK_MINUTES ?= 60
faults:
	$(PREPARE_TEST)
	@$(MAKE) -s $(PARALLEL) tmp-install
	@SCRIPT_SECONDS=14400 FAULT_ROUNDS=$(FAULT_ROUNDS) FAULTS='$(FAULTS)' test/run tap --tests 156_faults

soak:
	$(PREPARE_TEST)
	@$(MAKE) -s $(PARALLEL) tmp-install
	@SCRIPT_SECONDS=$$(($(SOAK_MINUTES) * 60 + 900)) SOAK_MINUTES=$(SOAK_MINUTES) test/run tap --tests 157_soak

# sfgateway with 200 people who look at the console and with traces that it exports, for SOAK_MINUTES: its memory is flat.
soak-gateway:
	$(PREPARE_TEST)
	@$(MAKE) -s $(PARALLEL) tmp-install
	@SCRIPT_SECONDS=$$(($(SOAK_MINUTES) * 60 + 900)) GATEWAY_SOAK_MINUTES=$(SOAK_MINUTES) test/run tap --tests 317_gateway_soak

# What is released: archives of what is committed, and packages for the releases of PostgreSQL that have headers here.
# Both write into dist/.
dist:
	@.packaging/dist $(RELEASE)
deb:
	@.packaging/deb $(RELEASE)

# Executions over servers that Citus joins: SFFLOW_CITUS=TARBALL make test-scale
test-scale:
	@test/scale/run

# Updates from all releases that are out, and the packages on fresh Debian systems, in chroots: make test-release
# SYSTEMS="bookworm".
test-release:
	$(PREPARE_TEST)
	@$(MAKE) -s $(PARALLEL) tmp-install
	@status=0; test/platforms/updates || status=1; test/platforms/minors $(SYSTEMS) || status=1; test/platforms/packages $(SYSTEMS) || status=1; exit $$status

# Conventions that a compiler does not check.
lint:
	@status=0; for check in test/lint/*; do [ -x $$check ] || continue; $$check || status=1; done; exit $$status

help:
	@echo 'make                build the extension, sfworker and sfgateway'
	@echo 'make install        install them into the PostgreSQL that pg_config names'
	@echo 'make demo           a nightly batch that fails, is repaired and redriven, on a throw-away server'
	@echo 'make console        the night of the demo in the console, on a throw-away server (PORT=8083)'
	@echo 'make test           all tests, on throw-away servers (SUITES="regress tap" TESTS="name": some)'
	@echo 'make test-without   the suites without the optional features, one after the other (SUITES, TESTS)'
	@echo 'make test-memory    suites with the library under sanitizers (SUITES, TESTS as for make test)'
	@echo 'make test-versions  the tests on PostgreSQL 16, 17 and 18, in chroots (RELEASES="17 18")'
	@echo 'make test-demo      make demo and make console on fresh Debian systems, in chroots (SYSTEMS="bookworm")'
	@echo 'make installcheck   the regression tests against a running server with the library preloaded'
	@echo 'make bench          measurements against floors of the same run'
	@echo 'make model          the models of the protocols, with spin, some minutes'
	@echo 'make faults         every fault in rounds against an exact ledger (FAULT_ROUNDS=5, FAULTS=pattern)'
	@echo 'make soak           load and random faults for an hour (SOAK_MINUTES=10)'
	@echo 'make soak-gateway   sfgateway with 200 viewers and an export for an hour (SOAK_MINUTES=10)'
	@echo 'make lint           conventions that a compiler does not check'
	@echo 'make install-unit   install the units of systemd for both programs (UNITDIR, DESTDIR)'
	@echo 'make extension      build the extension without the programs'
	@echo 'make dist           the archives of a release, with checksums and a list of components, under dist/'
	@echo 'make deb            Debian packages of what is committed, under dist/'
	@echo 'make test-scale     executions over four servers with Citus (SFFLOW_CITUS=source tarball)'
	@echo 'make test-release   updates from each release, and the packages on fresh Debian systems (SYSTEMS="bookworm")'
	@echo 'make tmp-install    a private PostgreSQL with the extension, under tmp_install/'
	@echo 'make clean          remove everything that was built'

.PHONY: extension dist deb test-release test-scale install-programs uninstall-programs install-unit uninstall-unit clean-programs tmp-install test test-without test-memory test-versions test-demo installcheck demo console bench model faults soak soak-gateway lint help
