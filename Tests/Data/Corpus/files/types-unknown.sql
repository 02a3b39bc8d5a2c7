UPDATE entry SET type = 99 WHERE key = 'k';
