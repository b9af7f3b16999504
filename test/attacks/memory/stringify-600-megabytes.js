// Ends: MEMORY | TIMEOUT | ERROR
const line = 'x'.repeat(1e6);
return JSON.stringify(Array.from({ length: 600 }, () => line)).length;
