// Ends: ERROR
// Error: SyntaxError
// Position: yes
return ];
