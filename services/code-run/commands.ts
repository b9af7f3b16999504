/**
 * What an operator does beside serving, straight on the store: whoever can read its keys may do all of it.
 * Answers are JSON on standard output, one object a line. A wrong command or setting, and what is not there, end
 * with status 2, a store that does not answer with 1.
 */
import type { Command } from 'commander';
import { endAsFailed, print, settingsOf } from '../shared/command.ts';
import { AppError } from '../shared/errors.ts';
import { createLog } from '../shared/log.ts';
import { runJson, settingsJson } from './api/http/json.ts';
import { Settings, type SettingsChange } from './api/settings.ts';
import { checkCodeRun } from './check.ts';
import { readCodeRunConfig } from './config.ts';
import type { CodeRunStore, KeyRotation } from './store/contract.ts';

type Store = CodeRunStore & KeyRotation;

export function addOperatorCommands(program: Command): void {
  const onStore = (work: (store: Store) => Promise<void>) => async () => {
    const config = await settingsOf(program, { read: readCodeRunConfig, check: checkCodeRun });
    // Loaded only where it is used: what is wrong with a command is told faster.
    const { withConfiguredStore } = await import('./configured-store.ts');
    await withConfiguredStore(config, createLog({ service: 'code-run', level: 'warn' }), work);
  };

  program.helpCommand(true);
  program
    .command('rotate')
    .description('wrap the data keys of all runs under the active key, while serving goes on')
    .addHelpText('after', '\nEnds with status 1 where a run could not be unwrapped: "unreadable" names them.')
    .action(
      onStore(async (store) => {
        const report = await store.rotate();
        print(JSON.stringify(report));
        if (report.unreadable.length > 0) endAsFailed();
      }),
    );

  addSettings(program, onStore);
  addRuns(program, onStore);
}

type OnStore = (work: (store: Store) => Promise<void>) => () => Promise<void>;

function addSettings(program: Command, onStore: OnStore): void {
  const settings = program.command('settings').description("read and change the platform's settings");
  settings
    .command('get')
    .description('print them, with their version')
    .action(onStore(async (store) => print(JSON.stringify(settingsJson(await store.settings())))));
  settings
    .command('set <NAME=VALUE...>')
    .description('change enabled, timeoutMs, memoryMb or outputBytes')
    .action((assignments: string[]) => {
      const change = changeOf(assignments);
      return onStore(async (store) => {
        const known = new Settings(store, () => performance.now());
        const { version } = await known.read();
        print(JSON.stringify(settingsJson(await known.update(version, change, (name) => name))));
      })();
    });
}

function changeOf(assignments: readonly string[]): SettingsChange {
  const values = new Map<string, unknown>();
  for (const assignment of assignments) {
    const [, name, value] = /^(enabled|timeoutMs|memoryMb|outputBytes)=(.+)$/.exec(assignment) ?? [];
    if (name === undefined || value === undefined) {
      throw wrong(`"${assignment}" must be enabled=…, timeoutMs=…, memoryMb=… or outputBytes=…`);
    }
    if (values.has(name)) throw wrong(`${name} stands there twice`);
    if (name === 'enabled' && value !== 'true' && value !== 'false')
      throw wrong('enabled must be true or false');
    // What is no number is out of every range.
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    values.set(name, name === 'enabled' ? value === 'true' : number);
  }
  return Object.fromEntries(values);
}

function wrong(message: string): AppError {
  return new AppError('INVALID_ARGUMENT', message);
}

function addRuns(program: Command, onStore: OnStore): void {
  const runs = program.command('runs').description('list, show, cancel and delete code runs');
  runs
    .command('list <session>')
    .description('print the runs of a session, newest first')
    .action((session: string) =>
      onStore(async (store) => {
        let token: string | undefined;
        do {
          const page = await store.list(session, 50, token);
          for (const run of page.runs) {
            const { id, turn, callId, owner, status, result, createdAtMs, updatedAtMs } = run;
            const reason = result?.tag === 'Failed' ? { reason: result.reason } : {};
            const times = { createdAt: createdAtMs, updatedAt: updatedAtMs };
            print(JSON.stringify({ id, session, turn, callId, owner, status, ...reason, ...times }));
          }
          token = page.nextPageToken;
        } while (token !== undefined);
      })(),
    );
  runs
    .command('show <id>')
    .description('print a run with its program, calls and result')
    .action((id: string) =>
      onStore(async (store) => {
        const run = await store.get(id);
        if (run === undefined) throw noSuchRun(id);
        for (const piece of runJson({ run, journal: await store.journal(id) })) process.stdout.write(piece);
        print('');
      })(),
    );
  runs
    .command('cancel <id>')
    .description('stop a run for good')
    .action((id: string) =>
      onStore(async (store) => {
        const run = await store.cancel(id, Date.now());
        if (run === undefined) throw noSuchRun(id);
        print(JSON.stringify({ id, status: run.status }));
      })(),
    );
  runs
    .command('delete <session>')
    .description('cancel and delete every run of a session')
    .action((session: string) =>
      onStore(async (store) => print(JSON.stringify({ deleted: await store.deleteSession(session) })))(),
    );
}

function noSuchRun(id: string): AppError {
  return new AppError('NOT_FOUND', `there is no code run ${id}`);
}
