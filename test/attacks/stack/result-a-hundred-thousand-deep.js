// Ends: RETURNED | ERROR | OUTPUT_TOO_LARGE
let deep = 1;
for (let i = 0; i < 1e5; i++) deep = [deep];
return deep;
