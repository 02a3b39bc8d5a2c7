DELETE FROM replica;
