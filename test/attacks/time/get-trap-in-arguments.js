// Ends: TIMEOUT
return await apps.notes.read(new Proxy({ a: 1 }, { get() { for (;;); } }));
