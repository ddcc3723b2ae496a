-- Standing instructions are a kind of memory. A CHECK is changed in the schema's own row, as SQLite's documentation of
-- ALTER TABLE says for changes that leave every row as it is: whatever columns the table has by now, they stay.

PRAGMA writable_schema = ON;
UPDATE sqlite_schema
SET sql = replace(sql, '''summary'', ''raw'', ''rollup'')', '''summary'', ''raw'', ''rollup'', ''instruction'')')
WHERE type = 'table' AND name = 'memory';
PRAGMA writable_schema = RESET;
-- Whoever has the file open reads the schema again once it has another number.
CREATE TABLE renumbered (number INTEGER);
DROP TABLE renumbered;
