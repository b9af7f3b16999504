// Ends: RETURNED
// ValueHasOwnProto: yes
return JSON.parse('{"__proto__":{"admin":true}}');
