UPDATE OR REPLACE entry SET sequence_number = -sequence_number;
