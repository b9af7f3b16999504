// Ends: TIMEOUT
return new Proxy({}, { ownKeys() { for (;;); } });
