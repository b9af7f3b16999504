import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { identifierOf, numberNames, wordsOf } from '../../services/code-run/bindings/names.ts';
import { limits } from '../../services/shared/limits.ts';

describe('identifierOf', () => {
  it.each([
    // Separators of every kind.
    ['Work calendar', 'work_calendar'],
    ['list-events', 'list_events'],
    ['API-post-page', 'api_post_page'],
    ['notes.read_note', 'notes_read_note'],
    ['itential::get_workflows', 'itential_get_workflows'],
    ['OEE/Sites/get_site', 'oee_sites_get_site'],
    ['fs/read:file', 'fs_read_file'],
    ['a - b', 'a_b'],
    ['__private__', 'private'],
    ['Summarize Detection', 'summarize_detection'],
    ['file://demo/readme.md', 'file_demo_readme_md'],
    // Case changes and acronyms.
    ['listEvents', 'list_events'],
    ['ListEvents', 'list_events'],
    ['getHTTPStatus', 'get_http_status'],
    ['HTTPServer', 'http_server'],
    ['parseURL', 'parse_url'],
    ['READ_ONLY', 'read_only'],
    ['OAuthToken', 'o_auth_token'],
    ['iOSApps', 'i_os_apps'],
    [
      'TwilioMessagingV1--FetchLinkshorteningMessagingServiceDomainAssociation',
      'twilio_messaging_v1_fetch_linkshortening_messaging_service_domain_association',
    ],
    // Digits stay with the word before them; a capital after one starts a word.
    ['V2Fetch', 'v2_fetch'],
    ['list2', 'list2'],
    ['s3bucket', 's3bucket'],
    ['ISO8601Date', 'iso8601_date'],
    ['123go', '_123go'],
    ['2FA', '_2_fa'],
    ['get-36kr-trending', 'get_36kr_trending'],
    // Other scripts; composed and decomposed are the same.
    ['阿里巴巴', '阿里巴巴'],
    ['Überblick-Öffnen', 'überblick_öffnen'],
    ['cafe\u0301', 'café'],
    ['ΛίσταΑρχείων', 'λίστα_αρχείων'],
    ['हिन्दी सूची', 'हिन्दी_सूची'],
    ['x²', 'x'],
    ['🚀 launch 🚀', 'launch'],
    // What JavaScript has an opinion about.
    ['delete', 'delete'],
    ['typeof', 'typeof'],
    ['await', 'await'],
    ['then', 'then'],
    ['call', 'call'],
    ['constructor', 'constructor'],
    ['__proto__', 'proto'],
    ['toString', 'to_string'],
    ['hasOwnProperty', 'has_own_property'],
    ['index', 'index'],
    // Nothing left.
    ['', '_'],
    ['...', '_'],
    ['🚀', '_'],
    ['\u200b\u202e', '_'],
    ['\ud800', '_'],
    ['a\u0000b\u2028c', 'a_b_c'],
  ])('turns %j into %s', (raw, name) => {
    expect(identifierOf(raw)).toBe(name);
  });

  it('keeps 200 characters', () => {
    expect(identifierOf('x'.repeat(200))).toBe('x'.repeat(200));
  });

  it('gives a name that can be written after a dot, for every text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (raw) => {
        const name = identifierOf(raw);
        expect(name).toMatch(/^(_|\p{ID_Start})\p{ID_Continue}*$/u);
        expect(name).toBe(name.normalize('NFC'));
        expect(new Function('o', `return o.${name}`)({ [name]: 7 })).toBe(7);
        expect(
          Object.getOwnPropertyNames(Object.prototype).filter((own) => own !== 'constructor'),
        ).not.toContain(name);
      }),
      { numRuns: 2000 },
    );
  });

  it('leaves a name alone', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (raw) => {
        expect(identifierOf(identifierOf(raw))).toBe(identifierOf(raw));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('wordsOf', () => {
  it('splits at case changes and at everything that is not a letter or digit', () => {
    expect(wordsOf('getHTTPStatus-2 forÜber_uns')).toEqual([
      'get',
      'http',
      'status',
      '2',
      'for',
      'über',
      'uns',
    ]);
  });
});

describe('numberNames', () => {
  it('numbers clashes in the order given', () => {
    expect(numberNames(['READ_ONLY', 'read-only', 'read.only', 'read_only'])).toEqual([
      'read_only',
      'read_only_2',
      'read_only_3',
      'read_only_4',
    ]);
  });

  it('passes over a number that another raw name is called by itself', () => {
    expect(numberNames(['a-b', 'a_b', 'a_b_2', 'a_b_3'])).toEqual(['a_b', 'a_b_4', 'a_b_2', 'a_b_3']);
  });

  it('never gives a taken name', () => {
    expect(numberNames(['then', 'Then', 'other'], ['then'])).toEqual(['then_2', 'then_3', 'other']);
  });

  it('gives every raw name a name of its own', () => {
    const raws = fc.array(
      fc.oneof(
        fc.constantFrom('a', 'A', 'a-2', 'a_2', 'a 2', 'a_2_2', 'then', '', '.', '_', '_2', '2'),
        fc.string({ unit: 'binary', maxLength: 6 }),
      ),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(raws, (list) => {
        const names = numberNames(list, ['then']);
        expect(names).toHaveLength(list.length);
        expect(new Set(names).size).toBe(list.length);
        expect(names).not.toContain('then');
        // The first of each group keeps the plain name.
        for (const plain of new Set(list.map(identifierOf))) {
          if (plain !== 'then')
            expect(names[list.findIndex((raw) => identifierOf(raw) === plain)]).toBe(plain);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe('names of raw names at their limit', () => {
  const longest = (unit: string, bytes: number) =>
    identifierOf(unit.repeat(Math.floor(bytes / Buffer.byteLength(unit))));

  it.each([
    ['a change of case at each letter', 'aB'],
    ['a character that stands for two', '\u0344'],
    ['a letter whose small form is longer', '\u0130'],
    ['both', 'a\u0130'],
    ['letters that come apart', '\u0958'],
    ['letters that come apart, between changes of case', 'a\u0958B'],
  ])('fit into a call: %s', (_, unit) => {
    const connection = longest(unit, limits.idBytesMax);
    const capability = longest(unit, limits.capabilityNameBytesMax);
    expect(capability.length).toBeGreaterThan(1000);
    expect(Buffer.byteLength(`${connection}_1000.${capability}_20000`)).toBeLessThan(limits.bindingBytesMax);
  });

  it('take at most three bytes for one, whatever they are', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), (raw) => {
        expect(Buffer.byteLength(identifierOf(raw))).toBeLessThanOrEqual(3 * Buffer.byteLength(raw) + 1);
      }),
      { numRuns: 5000 },
    );
  });
});
