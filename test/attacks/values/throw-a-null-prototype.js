// Ends: ERROR
// Readable: yes
throw Object.create(null);
