// Ends: RETURNED
// MessageInValue: 1048576
try {
  await apps.notes.read({ text: 'x'.repeat(1048576) });
} catch (error) {
  return error.message;
}
