// Ends: TIMEOUT | ERROR
console.log(new Proxy({}, { ownKeys() { for (;;); }, getPrototypeOf() { for (;;); }, get() { for (;;); } }));
console.log({ [Symbol.toPrimitive]() { for (;;); }, toString() { for (;;); }, get x() { for (;;); } });
for (;;);
