// Ends: ERROR
// MessageAtMost: 16384
throw Object.assign(new Error('x'), { name: 'n'.repeat(20e6) });
