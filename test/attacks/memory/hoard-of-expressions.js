// Ends: MEMORY | TIMEOUT
// Timeout: 1000
const all = [];
for (let i = 0; ; i++) {
  const one = new RegExp(`(a${i})+[b-z]{1,50}`);
  one.test('a');
  all.push(one);
}
