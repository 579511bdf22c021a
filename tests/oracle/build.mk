# SPDX-License-Identifier: GPL-2.0
# Generated unwind tables against libdw's reading of .eh_frame, see oracle.c.

O ?= build

ORACLE_DIR := $(O)/oracle

CHECK_TARGETS += check-oracle
CHECK_NEEDS += $(ORACLE_DIR)/oracle $(ORACLE_DIR)/flow $(ORACLE_DIR)/go
TEST_TARGETS += test-oracle-files test-oracle-compilers
TEST_NEEDS += $(O)/trace-ustack-tables
# for make test-full
FULL_TARGETS += test-oracle-big test-oracle-dropped test-oracle-installed

.PHONY: check-oracle test-oracle-files test-oracle-compilers test-oracle-big test-oracle-dropped \
	test-oracle-installed

ORACLE_SRC := tests/oracle/libdw.c tests/oracle/code.c tests/oracle/signed.c

$(ORACLE_DIR)/oracle: tests/oracle/oracle.c $(ORACLE_SRC) tests/oracle/oracle.h $(UU_LIB)
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(UU_CFLAGS) $(CFLAGS) -o $@ $(filter %.c,$^) $(UU_LIB) -ldw $(UU_LIBS)

$(ORACLE_DIR)/flow: tests/oracle/flow.c tests/oracle/sp.c $(ORACLE_SRC) tests/oracle/oracle.h \
		tests/oracle/sp.h $(UU_LIB)
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(UU_CFLAGS) $(CFLAGS) -o $@ $(filter %.c,$^) $(UU_LIB) -ldw $(UU_LIBS)

$(ORACLE_DIR)/go: tests/oracle/go.c $(ORACLE_SRC) tests/oracle/oracle.h $(UU_LIB)
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(UU_CFLAGS) $(CFLAGS) -o $@ $(filter %.c,$^) $(UU_LIB) -ldw $(UU_LIBS)

check-oracle: $(ORACLE_DIR)/oracle $(ORACLE_DIR)/flow $(ORACLE_DIR)/go
	@tests/oracle/tables quick $(ORACLE_DIR)

test-oracle-files test-oracle-compilers test-oracle-big test-oracle-dropped \
test-oracle-installed: test-oracle-%: \
		$(ORACLE_DIR)/oracle $(ORACLE_DIR)/flow $(O)/trace-ustack-tables
	@tests/oracle/tables $* $(ORACLE_DIR)

# .sframe of each version, written by other assemblers and linkers
FULL_TARGETS += test-oracle-gas
.PHONY: test-oracle-gas

test-oracle-gas: $(ORACLE_DIR)/oracle
	@tests/oracle/gas $(ORACLE_DIR)
