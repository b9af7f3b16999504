// Ends: MEMORY | ERROR
return [...Array(1e8)].length;
