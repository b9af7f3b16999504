// Ends: TIMEOUT | MEMORY | ERROR
return (3n ** (2n ** 26n)).toString().length;
