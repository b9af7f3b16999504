// Ends: TIMEOUT
await apps.notes.read({ id: 1 });
for (;;);
