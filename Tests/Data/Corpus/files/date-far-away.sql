UPDATE entry SET type = 5, value = 1e300;
