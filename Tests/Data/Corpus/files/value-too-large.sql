INSERT OR REPLACE INTO entry SELECT 'cloud', 'huge', 6, zeroblob(80000000), 1, id, 1000 FROM replica;
