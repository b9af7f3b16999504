// Ends: MEMORY | TIMEOUT | ERROR
const all = [];
for (let i = 0; i < 1e6; i++) all.push(new Promise(() => {}).then(() => i).then(() => [i]));
await Promise.all(all);
