// Ends: ERROR
// Message: cannot be made to grow here
const buffer = new ArrayBuffer(8, { maxByteLength: 2 ** 32 });
return buffer.resize(2 ** 31);
