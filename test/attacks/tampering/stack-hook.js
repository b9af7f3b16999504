// Ends: RETURNED
// Value: []
const seen = [];
const hook = (_, sites) => {
  for (const site of sites) seen.push(String(site.getFileName?.()), typeof site.getThis?.(), typeof site.getFunction?.());
  return 'x';
};
try {
  Error.prepareStackTrace = hook;
} catch {}
try {
  Object.defineProperty(Error, 'prepareStackTrace', { value: hook });
} catch {}
try {
  await apps.notes.read(1n);
} catch (error) {
  void error.stack;
}
return seen;
