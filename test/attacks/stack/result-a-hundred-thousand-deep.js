// Ends: ERROR
// Message: The returned value is not JSON: result nests more than 1000 levels deep
let deep = 1;
for (let i = 0; i < 1e5; i++) deep = [deep];
return deep;
