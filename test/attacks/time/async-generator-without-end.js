// Ends: TIMEOUT
async function* forever() {
  for (;;) yield 1;
}
let n = 0;
for await (const one of forever()) n += one;
return n;
