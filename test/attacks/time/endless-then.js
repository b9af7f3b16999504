// Ends: TIMEOUT
const again = () => {
  Promise.resolve().then(again);
};
again();
await new Promise(() => {});
