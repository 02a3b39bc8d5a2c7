INSERT INTO migration VALUES ('V999_future', ''); CREATE TABLE more (a, b AS (a + 1));
