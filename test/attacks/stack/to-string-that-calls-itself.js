// Ends: ERROR
// Error: RangeError
const me = { toString() { return `${this}`; } };
return `${me}`;
