// Ends: RETURNED
// Value: 0
let found = 0;
for (const name of ['emit', '$0', '$1', 'ivm', 'isolate', '_ivm', 'realm', 'host']) if (name in globalThis) found++;
return found;
