// Ends: ERROR
// Readable: yes
throw null;
