UPDATE entry SET type = 7, value = '[1,';
