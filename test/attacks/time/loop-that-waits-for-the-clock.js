// Ends: TIMEOUT
// Message: stands still
const start = Date.now();
while (Date.now() - start < 10);
return 'waited';
