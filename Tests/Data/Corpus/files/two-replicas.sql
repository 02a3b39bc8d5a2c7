PRAGMA ignore_check_constraints = ON; INSERT INTO replica SELECT 2, id, hlc, lseq, gc_lseq, min_writer FROM replica;
