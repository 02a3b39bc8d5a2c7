UPDATE entry SET replica_id = -1;
