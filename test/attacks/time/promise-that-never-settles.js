// Ends: ERROR
// AtOnce: yes
await new Promise(() => {});
