// Ends: ERROR | MEMORY
const kept = [];
for (;;) kept.push(new Uint8Array(new ArrayBuffer(8).transfer(2 ** 20)).fill(1));
