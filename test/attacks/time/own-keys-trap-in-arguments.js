// Ends: TIMEOUT
return await apps.notes.read(new Proxy({}, { ownKeys() { for (;;); } }));
