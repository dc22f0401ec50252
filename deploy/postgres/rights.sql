-- After each `grantor migrate`, as the owner of the ledger; harmless to run again. It gives workers and operators what
-- they need, and no more: nobody but the owner may change or delete a grant. docs/postgresql.md has the same rights, and
-- those of readers. Both roles must be there: roles.sql makes them.
--
-- A worker with GRANTOR_KEEP_ANSWERS also needs: GRANT INSERT ON operator_actions TO grantor_worker;
--
--   psql "postgres://grantor_owner@host/grantor" -f deploy/postgres/rights.sql
\set ON_ERROR_STOP on

BEGIN;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO grantor_worker, grantor_operator;
GRANT INSERT ON consumer_group, partitions, products, grants, answers, retries, outbox
    TO grantor_worker, grantor_operator;
GRANT UPDATE ON partitions, retries, outbox, measure TO grantor_worker, grantor_operator;
GRANT INSERT, UPDATE, DELETE ON workers TO grantor_worker;
GRANT DELETE ON answers, retries, outbox TO grantor_worker, grantor_operator;
GRANT USAGE ON SEQUENCE lease_numbers TO grantor_worker, grantor_operator;
GRANT INSERT ON operator_actions TO grantor_operator;
GRANT UPDATE ON consumer_group TO grantor_operator;
COMMIT;
