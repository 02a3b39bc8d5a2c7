PRAGMA ignore_check_constraints = ON; INSERT INTO replica SELECT 2, id, epoch, hlc, lseq, gc_floor, gc_lseq, min_writer FROM replica;
