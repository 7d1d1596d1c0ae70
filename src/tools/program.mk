# What the programs beside the extension share, but for tools/client: where PostgreSQL's libraries for client programs are, how C is
# compiled, where programs, their pages and units are installed. PROGRAM and UNIT, a name of a file, are set before.

PG_CONFIG ?= pg_config
VERSION ?= $(shell sed -n 's/^RELEASE = //p' ../../../Makefile)
CC ?= gcc
INSTALL ?= install

# Debian keeps PostgreSQL's own programs and pages where neither a shell nor man looks. The program goes where
# PostgreSQL's are if they are in the PATH, else to a folder that always is. So does the page, which goes where
# PostgreSQL's are also if there is no man to ask. BINDIR and MANDIR name other folders.
pg_bindir := $(shell $(PG_CONFIG) --bindir)
bindir = $(or $(BINDIR),$(if $(filter $(pg_bindir),$(subst :, ,$(PATH))),$(pg_bindir),/usr/local/bin))

pg_mandir := $(shell $(PG_CONFIG) --mandir)
ifeq ($(filter $(pg_mandir),$(subst :, ,$(or $(shell manpath -q 2>/dev/null),$(pg_mandir)))),)
mandir = $(or $(MANDIR),/usr/local/share/man)
else
mandir = $(or $(MANDIR),$(pg_mandir))
endif

# The headers of the release whose libraries are linked come before those that libpq-dev has of some release.
# Debian has the libraries in pkglibdir.
includes := $(shell $(PG_CONFIG) --includedir-server) $(shell $(PG_CONFIG) --includedir)
PG_CFLAGS := $(foreach folder,$(includes) $(lastword $(includes))/internal $(shell $(PG_CONFIG) --pkgincludedir)/internal,-isystem $(folder))
PG_LIBS := -L$(shell $(PG_CONFIG) --libdir) -L$(shell $(PG_CONFIG) --pkglibdir) -lpgfeutils -lpgcommon -lpgport -lpq

CFLAGS ?= -O2 -g
WERROR ?= $(if $(wildcard ../../../.git),-Werror)
override CFLAGS += -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Wdeclaration-after-statement $(WERROR) \
	-Wvla -Wformat=2 -Wmissing-prototypes -fstack-protector-strong -D_FORTIFY_SOURCE=2 -MMD -MP
override CPPFLAGS += -D_GNU_SOURCE -DSFW_VERSION='"$(VERSION)"' -I../.. $(PG_CFLAGS)

all: $(PROGRAM)

postgresql-libraries:
	@test -e "$$($(PG_CONFIG) --includedir)/libpq-fe.h" || { \
		echo '$(PROGRAM) needs libpq and its headers (libpq-dev)' >&2; exit 1; }
	@test -e "$$($(PG_CONFIG) --includedir-server)/common/jsonapi.h" \
		-a \( -e "$$($(PG_CONFIG) --libdir)/libpgcommon.a" -o -e "$$($(PG_CONFIG) --pkglibdir)/libpgcommon.a" \) || { \
		echo "$(PROGRAM) needs PostgreSQL's libraries for client programs (postgresql-server-dev-15)" >&2; exit 1; }

# Without pg_config the directories would be those of the root.
directories:
	@test -n '$(pg_bindir)' -a -n '$(pg_mandir)' || { echo 'pg_config not found: where do programs go?' >&2; exit 1; }

install: $(PROGRAM) | directories
	$(INSTALL) -d '$(DESTDIR)$(bindir)' '$(DESTDIR)$(mandir)/man1'
	$(INSTALL) -m 755 $(PROGRAM) '$(DESTDIR)$(bindir)/$(PROGRAM)'
	$(INSTALL) -m 644 $(PROGRAM).1 '$(DESTDIR)$(mandir)/man1/$(PROGRAM).1'

# Not a part of install, which writes into PostgreSQL's folders and that of the page alone.
UNITDIR ?= /usr/lib/systemd/system

install-unit: | directories
	$(INSTALL) -d '$(DESTDIR)$(UNITDIR)'
	sed 's|^ExecStart=[^ ]*/|ExecStart=$(bindir)/|' $(UNIT) > '$(DESTDIR)$(UNITDIR)/$(UNIT)'

uninstall-unit:
	rm -f '$(DESTDIR)$(UNITDIR)/$(UNIT)'

uninstall: directories
	rm -f '$(DESTDIR)$(bindir)/$(PROGRAM)' '$(DESTDIR)$(pg_bindir)/$(PROGRAM)' \
		'$(DESTDIR)$(mandir)/man1/$(PROGRAM).1' '$(DESTDIR)$(pg_mandir)/man1/$(PROGRAM).1'

.PHONY: all postgresql-libraries libraries directories install uninstall install-unit uninstall-unit clean
