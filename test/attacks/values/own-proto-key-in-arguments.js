// Ends: RETURNED
// Value: true
const back = await apps.notes.read(JSON.parse('{"__proto__":1,"a":2}'));
return Object.hasOwn(back, '__proto__') && back.a === 2;
