// Ends: TIMEOUT
return /^(a+)+$/.test('a'.repeat(60) + '!');
