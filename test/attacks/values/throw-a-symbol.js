// Ends: ERROR
// Readable: yes
throw Symbol('why');
