// Ends: ERROR
// Error: SyntaxError
*/ return 1;
