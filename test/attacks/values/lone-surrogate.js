// Ends: RETURNED
// Value: "\ud800"
return '\ud800';
