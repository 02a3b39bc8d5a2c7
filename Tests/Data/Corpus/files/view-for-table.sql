PRAGMA writable_schema = ON; UPDATE sqlite_schema SET type = 'view' WHERE name = 'entry';
