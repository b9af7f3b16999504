// Ends: RETURNED | ERROR
// Value: "undefined"
return new Function('return typeof process')();
