/** What is no program: each is refused before anything runs, with the place and with what to send instead. */
import { describe, expect, test } from 'vitest';
import { normalizeProgram } from '../../services/code-run/program/normalize.ts';

function errorOf(code: string): string {
  const result = normalizeProgram(code);
  if (result.ok) throw new Error(`understood: ${result.program.text}`);
  const { line, column, message } = result.error;
  return `${line}:${column} ${message}`;
}

const prose =
  'Syntax error: this is prose, not JavaScript. Send the program alone: the body of an async function';
const entity = (written: string) =>
  `Syntax error: "${written}" is a sign written for HTML. Send the program as plain text, with < > & and quotes as they are`;
const escaped = (written: string) =>
  `Syntax error: "${written}" is escaped as inside a string. Send the program as plain text, with real line breaks and quotes`;
const json = 'Syntax error: the program is wrapped in JSON. Send only the program, as it is';
const quoted =
  'Syntax error: the whole program is in quotes, so it would only give back its text. Send it without them, with real line breaks';
const numbered = 'Syntax error: the lines start with their numbers. Send the program without them';
const tagged = (tag: string) =>
  `Syntax error: the program is inside ${tag}. Send the program alone, without tags`;
const diff = 'Syntax error: this is a diff. Send the whole program as it is to run, without + and -';
const python = 'Syntax error: this looks like Python. Programs are JavaScript';

const table: readonly (readonly [what: string, code: string, error: string])[] = [
  ['a request', 'Please list my notes and send them to the team.', `1:1 ${prose}`],
  ['a sentence', 'I would call the tool.', `1:1 ${prose}`],
  ['an apostrophe', "Let's list my notes first, then we'll see", `1:1 ${prose}`],
  ['a typographic apostrophe', 'I don’t know what to do now', `1:1 ${prose}`],
  ['a keyword first', 'for each note, read it and send it', `1:1 ${prose}`],
  ['a list', '1. List the notes\n2. Send them to Ada', `1:1 ${prose}`],
  ['words before a program', 'Here is the program:\n\nconst a = 1;\nreturn a;', `1:1 ${prose}`],
  ['words after a program', 'const a = 1;\nreturn a;\n\n  This gives the value of a.', `4:3 ${prose}`],
  ['Chinese', '请列出我的笔记，然后发给团队。', `1:1 ${prose}`],
  ['Chinese in one word', '请列出我的笔记', `1:1 ${prose}`],

  ['an escaped comparison', 'if (a &lt; 5 &amp;&amp; b) { return 1; }', `1:7 ${entity('&lt;')}`],
  ['an escaped arrow', 'const a = 1;\nconst f = (x) =&gt; x + a;', `2:16 ${entity('&gt;')}`],
  ['escaped quotes', 'const s = &quot;a&quot;;', `1:11 ${entity('&quot;')}`],
  ['escaped quotes by number', 'const s = &#39;a&#39;;', `1:11 ${entity('&#39;')}`],
  ['an escaped and', 'return a &amp;&amp; b;', `1:10 ${entity('&amp;')}`],
  ['an escaped comparison that JavaScript can read', 'return a &lt; b;', `1:10 ${entity('&lt;')}`],

  ['JSON around it', '{"code": "const a = 1;\\nreturn a;"}', `1:1 ${json}`],
  ['JSON with a reason', '{"reason": "To test", "code": "return 1"}', `1:1 ${json}`],
  ['JSON with real line breaks', '{\n  "code": "const a = 1;\n  return a;"\n}', `1:1 ${json}`],
  ['a JSON text', '"const a = 1;\\nreturn a;"', `1:1 ${quoted}`],
  ['backticks', '`return await apps.notes.list_notes({})`', `1:1 ${quoted}`],
  ['line breaks as signs', 'const a = 1;\\nreturn a;', `1:13 ${escaped('\\n')}`],
  ['escaped quotes of JSON', 'return \\"a\\";', `1:8 ${escaped('\\"')}`],

  ['numbers with a colon', '1: const a = 1;\n2: return a;', `1:1 ${numbered}`],
  ['numbers with a bar, and an empty line', '1 | const a = 1;\n2 |\n3 | return a;', `1:1 ${numbered}`],
  ['numbers with a tab', '  1\tconst a = 1;\n  2\treturn a;', `1:1 ${numbered}`],
  ['numbers with an arrow', '1→const a = 1;\n2→return a;', `1:1 ${numbered}`],
  ['numbers with a point', '1. const a = 1;\n2. return a;', `1:1 ${numbered}`],

  ['a tag', '<code>\nreturn 1;\n</code>', `1:1 ${tagged('<code>')}`],
  ['a tag with more', '\n<script type="module">return 1;</script>', `2:1 ${tagged('<script>')}`],
  ['a call of a tool', '<tool_call>{"a": 1}</tool_call>', `1:1 ${tagged('<tool_call>')}`],
  ['a section of XML', '<![CDATA[ return 1; ]]>', `1:1 ${tagged('<![CDATA[…]]>')}`],

  ['added lines', '+const a = 1;\n+return a;', `1:1 ${diff}`],
  ['changed lines', '-const a = 1;\n+const a = 2;\n return a;', `1:1 ${diff}`],
  ['a diff', 'diff --git a/x.js b/x.js\n--- a/x.js\n+++ b/x.js', `1:1 ${diff}`],
  ['a part of a diff', '@@ -1,2 +1,2 @@\n const a = 1;', `1:1 ${diff}`],
  ['a conflict', '<<<<<<< HEAD\nreturn 1;\n=======\nreturn 2;\n>>>>>>> x', `1:1 ${diff}`],

  ['a loop of Python', 'notes = load()\nfor n in notes:\n    print(n)', `2:1 ${python}`],
  ['a function of Python', 'async def main():\n    return 1', `1:1 ${python}`],
  ['an import of Python', 'import json\nx = 1', `1:1 ${python}`],
  ['another import of Python', 'from datetime import date\n', `1:1 ${python}`],
  ['a condition of Python', 'a = 1\nif a == 1:\n    b()', `2:1 ${python}`],
];

describe('a text that is no program', () => {
  test.each(table)('is refused with what to do instead: %s', (_what, code, error) => {
    expect(errorOf(code)).toBe(error);
  });
});

/** As they are, whatever they look like. */
const plain: readonly string[] = [
  'return s.replace("&amp;", "&").replace(/&lt;/g, "<");',
  'const lt = 3;\nreturn a &lt;',
  'return "Please list my notes and send them to the team.";',
  'return `\n1: a\n2: b\n`;',
  'return "const a = 1;\\\\nreturn a;";',
  'return { code: "return 1" };',
  'return "<code>x</code>";',
  'const diff = `\n+ a\n- b\n`;\nreturn diff;',
  '+1;\nreturn 2;',
  '// Please list my notes and send them\nreturn 1;',
  'const 笔记 = 1;\nreturn 笔记;',
];

describe('a program', () => {
  test.each(plain)('is left alone where it only looks like a mistake: %j', (code) => {
    expect(normalizeProgram(code)).toEqual({ ok: true, program: { text: code, columnShifts: [] } });
  });

  test.each([
    ['a text that is the result', '"done"'],
    ['a sentence that is the result', '"Please return the list of notes"'],
    ['an object with a code that is none', '{"code": "US", "name": "x"}'],
    ['a list with numbers', '[1, 2]'],
  ])('may be %s', (_what, code) => {
    expect(normalizeProgram(code)).toMatchObject({ ok: true, program: { text: `return ${code}` } });
  });

  test('with a mistake of its own keeps the error of it', () => {
    expect(errorOf('const s = "&lt;";\nreturn s +;')).toBe('2:11 Syntax error: unexpected ";"');
    expect(errorOf('/*\nfor each note:\n*/\nreturn );')).toBe('4:8 Syntax error: unexpected ")"');
    expect(errorOf('const a = `\nPlease list my notes now\n`;\nreturn );')).toBe(
      '4:8 Syntax error: unexpected ")"',
    );
  });

  test('that is refused takes time in proportion to its text', () => {
    const started = performance.now();
    const blanks = ' '.repeat(200_000);
    for (const code of [
      `1${blanks}\n)`,
      `1:${blanks}\n2:${blanks}`,
      `a${blanks}b c d`,
      `<code>${blanks})`,
      `{"code": "${blanks}`,
      `${'1: a\n'.repeat(50_000)})`,
    ]) {
      expect(normalizeProgram(code).ok).toBe(false);
    }
    expect(performance.now() - started).toBeLessThan(5000);
  });
});
