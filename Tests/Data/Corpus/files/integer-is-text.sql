UPDATE entry SET tag = 2, value = 'text';
