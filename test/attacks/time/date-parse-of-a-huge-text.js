// Ends: TIMEOUT | MEMORY | ERROR
for (;;) new Date('1'.repeat(1e6));
