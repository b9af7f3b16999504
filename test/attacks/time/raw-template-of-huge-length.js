// Ends: TIMEOUT | MEMORY
return String.raw({ raw: { length: 2 ** 53 - 1, get 0() { return 'x'; } } }).length;
