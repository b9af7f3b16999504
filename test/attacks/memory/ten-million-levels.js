// Ends: MEMORY | TIMEOUT
// Timeout: 1000
let deep = null;
for (let i = 0; i < 1e7; i++) deep = { deep };
return deep;
