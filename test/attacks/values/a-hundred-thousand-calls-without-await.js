// Ends: RETURNED
// Value: 10000
// CallsExactly: 10000
// Timeout: 60000
const answers = [];
for (let i = 0; i < 100_000; i++) answers.push(apps.notes.read({ i }));
const settled = await Promise.allSettled(answers);
return settled.filter((one, i) => one.status === 'fulfilled' && one.value.i === i).length;
