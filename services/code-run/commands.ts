/**
 * What an operator does beside serving, straight on the store: whoever can read its keys may do all of it.
 * Answers are JSON on standard output, one object a line.
 */
import type { Command } from 'commander';
import { print, sourcesOf } from '../shared/command.ts';
import { AppError } from '../shared/errors.ts';
import { createLog } from '../shared/log.ts';
import { runJson, settingsJson } from './api/http/json.ts';
import { Settings, type SettingsChange } from './api/settings.ts';
import { readCodeRunConfig } from './config.ts';
import { withConfiguredStore } from './configured-store.ts';
import type { CodeRunStore, KeyRotation } from './store/contract.ts';

type Store = CodeRunStore & KeyRotation;

export function addOperatorCommands(program: Command): void {
  const onStore = (work: (store: Store) => Promise<void>) => async () => {
    const config = readCodeRunConfig(sourcesOf(program));
    await withConfiguredStore(config, createLog({ service: 'code-run', level: 'warn' }), work);
  };

  program
    .command('rotate')
    .description('wrap the data keys of all runs under the active key, while serving goes on')
    .action(onStore(async (store) => print(JSON.stringify(await store.rotate()))));

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
    .action((assignments: string[]) =>
      onStore(async (store) => {
        const change = changeOf(assignments);
        const known = new Settings(store, () => performance.now());
        const { version } = await known.read();
        print(JSON.stringify(settingsJson(await known.update(version, change, (name) => name))));
      })(),
    );
}

function changeOf(assignments: readonly string[]): SettingsChange {
  const values = assignments.map((assignment): [string, unknown] => {
    const [, name, value] = /^(enabled|timeoutMs|memoryMb|outputBytes)=(.+)$/.exec(assignment) ?? [];
    if (name === undefined || value === undefined) {
      throw new Error(`"${assignment}" must be enabled=…, timeoutMs=…, memoryMb=… or outputBytes=…`);
    }
    if (name !== 'enabled') return [name, /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN];
    if (value !== 'true' && value !== 'false') throw new Error('enabled must be true or false');
    return [name, value === 'true'];
  });
  return Object.fromEntries(values);
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
            const { id, turn, callId, owner, status, createdAtMs, updatedAtMs } = run;
            const times = { createdAt: createdAtMs, updatedAt: updatedAtMs };
            print(JSON.stringify({ id, session, turn, callId, owner, status, ...times }));
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
