// Ends: MEMORY
const all = [];
for (;;) all.push(new Array(1e5).fill(1.5));
