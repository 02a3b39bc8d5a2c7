INSERT OR REPLACE INTO entry (store, key, type, value, timestamp, replica_id, sequence_number)
SELECT 'cloud', 'huge', 6, zeroblob(80000000), 1, id, 1000 FROM replica;
