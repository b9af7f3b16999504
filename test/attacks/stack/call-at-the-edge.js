// Ends: RETURNED
// Value: true
const calls = [];
const down = () => {
  try {
    down();
  } catch {}
  try {
    if (calls.length < 50) calls.push(apps.notes.read({ at: calls.length }));
  } catch {}
};
down();
const answers = await Promise.allSettled(calls);
return answers.length === 50 && answers.every((answer, i) => answer.value?.at === i || answer.reason?.name === 'RangeError');
