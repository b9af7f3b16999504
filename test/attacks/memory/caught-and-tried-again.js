// Ends: MEMORY | TIMEOUT
// Timeout: 1000
const all = [];
for (;;) {
  try {
    all.push(new Uint8Array(1e7).fill(1), 'y'.repeat(1e6) + all.length);
  } catch {
    all.push({});
  }
}
