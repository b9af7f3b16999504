// Ends: ERROR
// Error: RangeError
const me = { get me() { return this.me; } };
return me.me;
