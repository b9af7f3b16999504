// Ends: TIMEOUT
return Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1);
