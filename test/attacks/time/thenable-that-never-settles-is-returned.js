// Ends: ERROR
// AtOnce: yes
return { then() {} };
