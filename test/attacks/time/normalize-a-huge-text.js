// Ends: TIMEOUT | MEMORY
let total = 0;
for (;;) total += '\u1e9b\u0323'.repeat(2 ** 22).normalize('NFKD').length;
