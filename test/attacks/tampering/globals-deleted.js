// Ends: RETURNED
// Value: {"i":1}
const { read } = apps.notes;
for (const key of Reflect.ownKeys(globalThis)) {
  try {
    delete globalThis[key];
  } catch {}
}
return await read({ i: 1 });
