// Ends: ERROR
return new RegExp('('.repeat(1e6) + ')'.repeat(1e6)).source.length;
