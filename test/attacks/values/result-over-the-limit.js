// Ends: OUTPUT_TOO_LARGE
// Message: 65536
return 'x'.repeat(65535);
