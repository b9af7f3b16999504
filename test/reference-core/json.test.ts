import { describe, expect, test } from 'vitest';
import { jsonErrorOffset, parseJsonFile } from '../../services/shared/json.ts';

const whole = '{"a":[1,-2.5e+3,true,null,{}],"b\\u00e9\\n":{"c":"d","e":[]}, "f" : "\u007fü😀"}';

/** The place in the engine's own message, where it gives one. */
function engineOffset(text: string): number | undefined {
  try {
    JSON.parse(text);
  } catch (error) {
    const digits = /at position (\d+)/.exec((error as Error).message)?.[1];
    return digits === undefined ? undefined : Number(digits);
  }
  throw new Error('it is JSON');
}

describe('the place of what is not JSON', () => {
  test('is where the engine finds it, with each character broken', () => {
    let compared = 0;
    for (let at = 0; at < whole.length; at++) {
      for (const wrong of ['\u0001', 'x', '}', ',']) {
        const text = whole.slice(0, at) + wrong + whole.slice(at + 1);
        try {
          JSON.parse(text);
        } catch {
          const offset = engineOffset(text);
          if (offset === undefined) continue;
          compared++;
          // A number or word that is cut short: the engine names the character, this its beginning.
          const start = jsonErrorOffset(text);
          expect(/^[-\d.eE+a-z\\]*$/.test(text.slice(start, offset)), JSON.stringify(text)).toBe(true);
        }
      }
    }
    expect(compared).toBeGreaterThan(50);
  });

  test('is the end for every beginning that is cut between two tokens', () => {
    expect(parseJsonFile(whole, 'a.json')).toEqual(JSON.parse(whole));
    for (const cut of ['', '{', '{"a"', '{"a":', '{"a":[', '{"a":[1,', '{"a":[1],', '{"a":"b']) {
      expect(jsonErrorOffset(cut), cut).toBe(cut.length);
    }
  });
});
