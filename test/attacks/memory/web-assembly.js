// Ends: ERROR
// Message: WebAssembly
return new WebAssembly.Memory({ initial: 16384 }).buffer.byteLength;
