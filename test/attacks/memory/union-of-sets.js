// Ends: MEMORY | TIMEOUT | ERROR
let all = new Set([0]);
for (let i = 1; ; i *= 2) all = all.union(new Set(Array.from({ length: i }, (_, k) => k + i)));
