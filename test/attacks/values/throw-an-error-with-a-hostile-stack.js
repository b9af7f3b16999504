// Ends: ERROR
// Readable: yes
throw Object.defineProperty(new Error('x'), 'stack', { get() { throw 1; } });
