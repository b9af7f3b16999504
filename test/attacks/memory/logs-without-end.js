// Ends: TIMEOUT | MEMORY | ERROR
// Timeout: 1000
for (;;) console.log('x'.repeat(60000));
