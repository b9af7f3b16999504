// Ends: MEMORY | TIMEOUT
// Timeout: 1000
const all = [];
for (;;) all.push(new Intl.DateTimeFormat('de', { dateStyle: 'full' }), new Intl.NumberFormat('fr', { style: 'currency', currency: 'EUR' }));
