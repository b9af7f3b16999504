// Ends: MEMORY
// ResultMb: 16
const all = [];
for (;;) all.push(await apps.notes.read({}));
