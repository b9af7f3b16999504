// Ends: TIMEOUT | MEMORY | ERROR
let n = 3n;
for (;;) n = n * n + 1n;
