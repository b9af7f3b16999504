// Ends: MEMORY | TIMEOUT | ERROR
const all = [];
for (let i = 1n; ; i++) all.push(2n ** (1000000n + i));
