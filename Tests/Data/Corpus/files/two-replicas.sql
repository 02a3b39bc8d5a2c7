PRAGMA ignore_check_constraints = ON;
INSERT INTO replica (only, id, timestamp, sequence_number, min_writer)
SELECT 2, id, timestamp, sequence_number, min_writer FROM replica;
