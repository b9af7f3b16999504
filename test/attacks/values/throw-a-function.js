// Ends: ERROR
// Readable: yes
throw () => {};
