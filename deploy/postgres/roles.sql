-- Before the first `grantor migrate`, as the owner of the database: the roles of workers and of operators. Harmless to
-- run again, as for a new password. The passwords come from files, so that they are in no argument and in no shell's
-- history:
--
--   LEDGER_PASSWORD_FILE=... LEDGER_OPERATOR_PASSWORD_FILE=... \
--     psql "postgres://grantor_owner@host/grantor" -f deploy/postgres/roles.sql
\set ON_ERROR_STOP on
\set worker_password `cat "$LEDGER_PASSWORD_FILE"`
\set operator_password `cat "$LEDGER_OPERATOR_PASSWORD_FILE"`

SELECT 'CREATE ROLE ' || role || ' LOGIN' FROM unnest('{grantor_worker,grantor_operator}'::text[]) AS role
WHERE role NOT IN (SELECT rolname::text FROM pg_roles) \gexec
ALTER ROLE grantor_worker PASSWORD :'worker_password';
ALTER ROLE grantor_operator PASSWORD :'operator_password';
-- A transaction that a person leaves open in psql holds locks, and workers wait for them.
ALTER ROLE grantor_operator SET idle_in_transaction_session_timeout = '30s';
