// Ends: TIMEOUT
'x'.replace(/x/, () => { for (;;); });
