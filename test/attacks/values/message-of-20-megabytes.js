// Ends: ERROR
// MessageAtMost: 16384
throw new Error('x'.repeat(20e6));
