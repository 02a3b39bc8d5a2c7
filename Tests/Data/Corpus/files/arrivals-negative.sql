UPDATE OR REPLACE entry SET lseq = -lseq;
