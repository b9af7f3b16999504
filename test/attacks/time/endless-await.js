// Ends: TIMEOUT
for (;;) await null;
