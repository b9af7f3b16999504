// Ends: RETURNED
// Value: 1
console.log('\ud800');
return 1;
