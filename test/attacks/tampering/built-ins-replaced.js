// Ends: RETURNED
// Value: {"keep":[1,2]}
const evil = () => 'evil';
const owners = [Array.prototype, Map.prototype, JSON, Reflect, Function.prototype, Object, String.prototype, Promise, Promise.prototype];
const keys = owners.map((owner) => Reflect.ownKeys(owner));
for (let i = 0; i < owners.length; i++) {
  for (let k = 0; k < keys[i].length; k++) {
    try {
      if (typeof owners[i][keys[i][k]] === 'function' && keys[i][k] !== 'constructor') owners[i][keys[i][k]] = evil;
    } catch {}
  }
}
return await apps.notes.read({ keep: [1, 2] });
