// Ends: TIMEOUT
return { toJSON() { for (;;); } };
