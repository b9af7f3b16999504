// Ends: RETURNED
// Value: 1
// CallsExactly: 2
apps.notes.read({ n: 1 }).then(() => apps.notes.read({ n: 2 }));
return 1;
