UPDATE replica SET sequence_number = 9223372036854775807;
