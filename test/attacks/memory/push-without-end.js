// Ends: MEMORY
const all = [];
for (;;) all.push({});
