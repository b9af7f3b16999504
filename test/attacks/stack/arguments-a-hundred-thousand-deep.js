// Ends: ERROR
// Message: apps.notes.read: args nests more than 1000 levels deep
let deep = 1;
for (let i = 0; i < 1e5; i++) deep = [deep];
await apps.notes.read({ deep });
return 1;
