// Ends: ERROR
// Readable: yes
throw Object.freeze({ frozen: true });
