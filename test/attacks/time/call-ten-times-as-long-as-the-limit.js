// Ends: RETURNED
// Value: "late"
// Timeout: 100
// AnswerAfter: 1000
const answer = await apps.notes.read({});
return answer.late === undefined ? 'late' : 'odd';
