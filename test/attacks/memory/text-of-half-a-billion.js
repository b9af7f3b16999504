// Ends: MEMORY | RETURNED
return 'x'.repeat(2 ** 29 - 24).length;
