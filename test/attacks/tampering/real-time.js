// Ends: RETURNED
// Value: true
const first = [Date.now(), new Date().getTime(), new Intl.DateTimeFormat('en', { timeStyle: 'full', timeZone: 'UTC' }).format(), Temporal.Now.instant().epochMilliseconds];
for (let i = 0; i < 1e5; i++);
const second = [Date.now(), new Date().getTime(), new Intl.DateTimeFormat('en', { timeStyle: 'full', timeZone: 'UTC' }).format(), Temporal.Now.instant().epochMilliseconds];
return JSON.stringify(first) === JSON.stringify(second);
