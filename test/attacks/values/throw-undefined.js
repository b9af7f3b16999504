// Ends: ERROR
// Readable: yes
throw undefined;
