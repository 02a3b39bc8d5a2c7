UPDATE entry SET value = CAST(x'ff' AS TEXT), type = 1;
UPDATE OR REPLACE entry SET key = CAST(x'c080' AS TEXT) WHERE key = 'key3';
