// Ends: ERROR
// AtOnce: yes
await { then() {} };
