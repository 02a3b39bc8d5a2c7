UPDATE entry SET tag = 99 WHERE key = 'k';
