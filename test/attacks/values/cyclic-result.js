// Ends: ERROR
const me = {};
me.me = me;
return me;
