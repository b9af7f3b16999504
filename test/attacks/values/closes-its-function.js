// Ends: ERROR
// Error: SyntaxError
});
this.constructor;
({
