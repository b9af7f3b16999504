// Ends: RETURNED
// Value: true
const back = await apps.notes.read({ text: '\udfff' });
return back.text === '\udfff';
