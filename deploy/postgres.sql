-- Run once, by a superuser of the server: a role that is none, its database, and pgvector in it.
-- psql puts in the password from the environment: MEMHOLD_PG_PASSWORD=… psql -f deploy/postgres.sql
\set ON_ERROR_STOP on
\getenv password MEMHOLD_PG_PASSWORD
CREATE ROLE memhold LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD :'password';
CREATE DATABASE memory OWNER memhold;
\connect memory
CREATE EXTENSION IF NOT EXISTS vector;
