// Ends: MEMORY | TIMEOUT
return Array(60e6).fill().length;
