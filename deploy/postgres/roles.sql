-- Once for each database, before `grantor migrate`, as its owner: the role of the workers. The password comes from a
-- file, so that it is in no argument and in no shell's history:
--
--   LEDGER_PASSWORD_FILE=... psql "postgres://grantor_owner@host/grantor" -f deploy/postgres/roles.sql
\set ON_ERROR_STOP on
\set password `cat "$LEDGER_PASSWORD_FILE"`

CREATE ROLE grantor_worker LOGIN PASSWORD :'password';
