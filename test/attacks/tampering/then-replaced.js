// Ends: RETURNED
// Value: {"i":1}
Promise.prototype.then = function () { return 7; };
return await apps.notes.read({ i: 1 });
