-- After each `grantor migrate`, as the owner of the ledger; harmless to run again: what a worker may do, and no more.
-- Nobody may change or delete a grant, the owner included: the ledger's own triggers refuse it.
--
--   psql "postgres://grantor_owner@host/grantor" -f deploy/postgres/privileges.sql
\set ON_ERROR_STOP on

BEGIN;

GRANT USAGE ON SCHEMA grantor TO grantor;
GRANT SELECT ON ALL TABLES IN SCHEMA grantor TO grantor;
GRANT INSERT ON outbox, withheld, publications, submissions, grants, quarantines, waiting, operator_actions, deliveries TO grantor;
GRANT UPDATE ON outbox_head, outbox_relay, publications, submissions, waiting, deliveries TO grantor;
GRANT DELETE ON outbox, withheld, waiting TO grantor;

COMMIT;
