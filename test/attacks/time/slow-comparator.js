// Ends: TIMEOUT
const numbers = Array.from({ length: 5000 }, (_, i) => (i * 7919) % 5003);
numbers.sort((a, b) => {
  let x = 0;
  for (let i = 0; i < 1e6; i++) x += i;
  return a - b + x - x;
});
return numbers[0];
