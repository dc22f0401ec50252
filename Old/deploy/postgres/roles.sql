-- Once per database, as the owner of the ledger, before `grantor migrate`: the workers' role, and a schema of the ledger's own.
--
--   LEDGER_PASSWORD_FILE=... psql "postgres://grantor_owner@host/grantor" -f deploy/postgres/roles.sql
\set ON_ERROR_STOP on

-- From a file, so that it is in no argument and in no shell's history.
\set password `cat "$LEDGER_PASSWORD_FILE"`

BEGIN;

CREATE ROLE grantor LOGIN PASSWORD :'password';
CREATE SCHEMA grantor;
-- For every role of this database: migrate and workers must mean the same tables.
ALTER DATABASE :"DBNAME" SET search_path = grantor;
REVOKE ALL ON SCHEMA public FROM PUBLIC;

COMMIT;
