UPDATE entry SET tag = 5, value = 1e300;
