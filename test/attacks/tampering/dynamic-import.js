// Ends: ERROR
return await import('node:fs');
