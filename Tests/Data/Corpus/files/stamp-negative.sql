UPDATE entry SET hlc = -1;
