// Ends: RETURNED
// Value: "TypeError"
try {
  return typeof apps.call.caller;
} catch (error) {
  return error.name;
}
