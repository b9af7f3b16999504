// Ends: RETURNED
// Value: [null,null,null,null,0,null]
return [() => {}, Symbol(), undefined, NaN, -0, Infinity];
