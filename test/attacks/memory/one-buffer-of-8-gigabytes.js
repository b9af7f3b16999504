// Ends: ERROR
return new ArrayBuffer(8e9).byteLength;
