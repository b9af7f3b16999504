// Ends: MEMORY | TIMEOUT | RETURNED
return 'a,'.repeat(5e7).split(',').length;
