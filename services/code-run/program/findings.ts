/**
 * Puts what the compiler says, and what the tree of a program shows, into the words of the product. Pure.
 *
 * F1: no name that only the declarations use is in a message. F2: of a name that is not there, the message is that
 * of a run. F3: what to install or to configure is nothing a program could do, and is left out.
 */
import { limits } from '../../shared/limits.ts';
import { truncateUtf8 } from '../../shared/text.ts';
import type { Binding } from '../core/model.ts';
import { absentText, importText } from './absent.ts';
import { positionOf } from './position.ts';
import type { ProgramError } from './syntax-error.ts';
import { BindingNames } from './unknown-name.ts';
import type { NameAt, Uses } from './uses.ts';

/** One error of the compiler: its number, and all lines of its message. */
export interface RawFinding {
  readonly code: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export class Findings {
  readonly #names: BindingNames;
  /** Names that only the declarations use, and what to write for them. */
  readonly #shown = new Map<string, string>();
  readonly #connectionOf = new Map<string, string>();

  constructor(bindings: readonly Binding[], declarations: string) {
    this.#names = new BindingNames(bindings);
    for (const [, name = ''] of declarations.matchAll(/^(?:type|interface) (\S*\$\S+)(?= [={])/gm)) {
      this.#shown.set(name, name.slice(name.lastIndexOf('$') + 1));
    }
    for (const [, key = '', type = ''] of declarations.matchAll(connectionMember)) {
      const connection = key.startsWith('"') ? textIn(key) : key;
      this.#shown.set(type, `typeof apps.${connection}`);
      this.#connectionOf.set(type, connection);
    }
  }

  /** All findings, in the order of the text; at one place the one that says more. */
  of(
    compiled: readonly RawFinding[],
    { text, uses }: { readonly text: string; readonly uses: Uses },
  ): ProgramError[] {
    const own = this.#seen(uses).map(({ offset, message }) => ({ ...positionOf(text, offset), message }));
    const places = new Set(own.map(placeOf));
    const others = compiled
      .filter(
        (finding) => !isHarmless(finding) && !isAskedFor(finding, uses) && !places.has(placeOf(finding)),
      )
      .map(({ line, column, ...finding }) => ({ line, column, message: this.#inOurWords(finding) }));
    return [...own, ...others]
      .map(({ message, ...place }) => ({
        ...place,
        message: truncateUtf8(message, limits.checkMessageBytesMax),
      }))
      .sort((a, b) => a.line - b.line || a.column - b.column);
  }

  /** What the tree shows. */
  #seen({ free, imports, connections, capabilities, called }: Uses): { offset: number; message: string }[] {
    const at = <T extends NameAt>(found: readonly T[], say: (one: T) => string | undefined) =>
      found.flatMap((one) => {
        const message = say(one);
        return message === undefined ? [] : [{ offset: one.offset, message }];
      });
    return [
      ...at(free, ({ name }) => absentText(name)),
      ...imports.map((offset) => ({ offset, message: importText })),
      ...at(connections, ({ name }) => this.#names.connection(name)),
      ...at(capabilities, ({ connection, name }) => this.#names.capability(connection, name)),
      ...at(called, ({ name }) => this.#names.called(name)),
    ];
  }

  #inOurWords({ code, message }: Pick<RawFinding, 'code' | 'message'>): string {
    switch (code) {
      case '2304':
      case '2552':
        return this.#unknownName(message) ?? this.#plain(message);
      case '2345':
        return this.#unknownCall(message) ?? this.#plain(message);
      case '2339':
      case '2551':
        return this.#unknownBinding(message) ?? withAwait(this.#plain(message));
      default:
        return this.#plain(message);
    }
  }

  #unknownName(message: string): string | undefined {
    const [, name] = /^Cannot find name '([^']*)'/.exec(message) ?? [];
    return name === undefined ? undefined : this.#names.alone(name);
  }

  #unknownCall(message: string): string | undefined {
    const [, text] =
      /^Argument of type '(".*")' is not assignable to parameter of type '"the name of a binding"'/.exec(
        message,
      ) ?? [];
    return text === undefined ? undefined : this.#names.called(textIn(text));
  }

  #unknownBinding(message: string): string | undefined {
    const [, name = '', type = ''] =
      /^Property '(.*)' does not exist on type '(Apps(?:\$\S+)?)'/.exec(message) ?? [];
    if (type === 'Apps') return this.#names.connection(name);
    const connection = this.#connectionOf.get(type);
    return connection === undefined ? undefined : this.#names.capability(connection, name);
  }

  /** F1, F3 */
  #plain(message: string): string {
    return message
      .replace(/[\p{ID_Continue}$]*\$[\p{ID_Continue}$]+/gu, (name) => this.#shown.get(name) ?? name)
      .replace(/'(?:keyof AppCalls|"the name of a binding")'/g, 'the name of a binding')
      .replace(/\bOtherApp\b/g, 'an app')
      .replace(/\. Do you need to (?:install|change|specify)[^\n]*/, '.')
      .replace(/ or its corresponding type declarations\./, '.');
  }
}

/** The member of `Apps` that a connection adds. */
const connectionMember = /^ {2}readonly (\S+): (Apps\$\S+);$/gm;

function placeOf({ line, column }: { readonly line: number; readonly column: number }): string {
  return `${line}:${column}`;
}

/** A text as the compiler prints it. */
function textIn(printed: string): string {
  try {
    return String(JSON.parse(printed));
  } catch {
    return printed.slice(1, -1);
  }
}

/** Operators on other types than numbers: JavaScript converts, as in the difference of two dates. */
const coerced = new Set(['2362', '2363', '2365']);

/** Nothing is known of the value, or of a property that an object got later or may not have. */
const unsaid = /\btype 'unknown'|^Type 'unknown'|does not exist on type '(?:\{\}|typeof globalThis)'/;

function isHarmless({ code, message }: RawFinding): boolean {
  return coerced.has(code) || unsaid.test(message.split('\n', 1)[0] ?? '');
}

/** A program that asks whether a name is there may use it where it is. */
function isAskedFor({ message }: RawFinding, { asked }: Uses): boolean {
  const [, name = ''] = /^Cannot find name '(.+?)'/.exec(message) ?? [];
  return asked.has(name);
}

function withAwait(message: string): string {
  return message.includes("on type 'Promise<") ? `${message} Did you forget await?` : message;
}
