// Ends: MEMORY | TIMEOUT | ERROR
const all = [];
for (;;) all.push(new Uint8Array(8).buffer);
