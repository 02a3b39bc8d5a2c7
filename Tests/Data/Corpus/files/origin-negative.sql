UPDATE entry SET origin = -1;
