// Ends: RETURNED
// Value: 1
// Log: nobody|unhandled|nothing handled
Promise.reject(new Error('left alone'));
return 1;
