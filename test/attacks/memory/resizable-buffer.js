// Ends: ERROR | MEMORY | RETURNED
// Value: "fixed"
const buffer = new ArrayBuffer(8, { maxByteLength: 2 ** 32 });
return typeof buffer.resize === 'function' ? buffer.resize(2 ** 31) : 'fixed';
