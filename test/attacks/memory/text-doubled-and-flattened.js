// Ends: MEMORY | ERROR | TIMEOUT
let text = 'abc';
for (;;) {
  text += text;
  text.charCodeAt(text.length - 1);
}
