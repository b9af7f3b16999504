// Ends: TIMEOUT
for (;;) {
  try {
    throw new Error('again');
  } catch {
    continue;
  }
}
