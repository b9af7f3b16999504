// Ends: ERROR | MEMORY
const all = [];
for (;;) all.push(new Uint8Array(1e6).fill(1));
