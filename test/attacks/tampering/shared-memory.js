// Ends: RETURNED
// Value: ["undefined","undefined","undefined","undefined"]
return [typeof globalThis.SharedArrayBuffer, typeof globalThis.Atomics, typeof globalThis.WeakRef, typeof globalThis.FinalizationRegistry];
