UPDATE entry SET timestamp = -1;
