UPDATE entry SET type = 2, value = 'text';
