-- The private schema: tables live here, functions and views of the extension's schema are the
-- contract.

CREATE SCHEMA _sfflow;
