// Ends: TIMEOUT | MEMORY
function* forever() {
  for (;;) yield 1;
}
return [...forever()].length;
