// Ends: ERROR
// Error: RangeError
const down = (n) => down(n + 1) + 1;
return down(0);
