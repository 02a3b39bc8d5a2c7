UPDATE entry SET tag = 7, value = '[1,';
