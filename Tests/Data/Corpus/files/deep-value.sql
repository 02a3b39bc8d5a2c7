UPDATE entry SET type = 7, value = replace(hex(zeroblob(500000)), '0', '[') WHERE key = 'k';
