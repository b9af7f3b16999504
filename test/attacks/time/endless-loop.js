// Ends: TIMEOUT
while (true);
