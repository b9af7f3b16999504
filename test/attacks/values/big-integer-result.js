// Ends: ERROR
return 1n;
