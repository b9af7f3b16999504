/** CodeRunService: authorize → validate → call → convert. */
import type { CodeRunService } from '../../../gen/openbot/codemode/v1/code_run_service_pb.js';
import { permissions, requirePermission } from '../../shared/auth/caller.ts';
import { AppError } from '../../shared/errors.ts';
import type { CallContext, ServiceHandlers } from '../../shared/grpc/handlers.ts';
import { limits } from '../../shared/limits.ts';
import { agentTools } from '../agent/tools.ts';
import { describeBindings, type SummarizedBinding, summaries } from '../bindings/describe.ts';
import type { CodeRunStore } from '../store/contract.ts';
import { toBinding, toCodeRun } from './convert.ts';
import { noSuchRun, type Reading } from './reading.ts';
import { type RunCodeDeps, runCode } from './run-code.ts';
import { stored } from './stored.ts';
import { Fields, isRunId } from './validate.ts';

export interface CodeRunDeps extends RunCodeDeps {
  readonly reading: Reading;
  readonly store: Pick<CodeRunStore, 'deleteSession'>;
}

export function codeRunService(deps: CodeRunDeps): ServiceHandlers<typeof CodeRunService> {
  const { runner, reading, store, settings, catalogs } = deps;

  function requireCore({ caller }: CallContext): void {
    requirePermission(caller, permissions.execute);
  }

  return {
    runCode: (requests, context) => runCode(deps, requests, context),

    async cancelCodeRun({ runId }, context) {
      requireCore(context);
      const record = isRunId(runId) ? await runner.cancel(runId) : undefined;
      if (record === undefined) throw noSuchRun();
      return { run: toCodeRun(record) };
    },

    async getCodeRun({ runId }, context) {
      return { run: toCodeRun(await reading.run(context.caller, runId)) };
    },

    async listCodeRuns(query, context) {
      const page = await reading.list(context.caller, query, listFields);
      return { runs: page.records.map(toCodeRun), nextPageToken: page.nextPageToken ?? '' };
    },

    async deleteSessionCodeRuns({ session }, context) {
      requireCore(context);
      const fields = new Fields();
      fields.id('session', session);
      fields.done();
      return { deleted: BigInt(await stored(store.deleteSession(session))) };
    },

    async putCatalog({ catalog }, context) {
      requireCore(context);
      if (catalog === undefined) throw new AppError('INVALID_ARGUMENT', 'catalog: must be set');
      const { digest, compiled } = catalogs.put(catalog, 'catalog');
      return { digest, bindings: summaries(compiled).map(toSummary) };
    },

    async describeBindings(request, context) {
      requireCore(context);
      const { query, connection, binding } = request;
      const textBytesMax = request.textBytesMax === 0 ? limits.describeBytesDefault : request.textBytesMax;
      const fields = new Fields();
      fields.text('query', query, 0, limits.queryBytesMax);
      fields.text('connection', connection, 0, limits.idBytesMax);
      fields.text('binding', binding, 0, limits.bindingNameBytesMax);
      fields.range('text_bytes_max', textBytesMax, limits.describeBytesMin, limits.describeBytesMax);
      fields.done();
      const compiled = catalogs.resolve(request.catalog, 'catalog');
      const wanted = { query, connection, binding, textBytesMax };
      const { text, bindings, leftOut } = describeBindings(compiled, wanted);
      return { text, bindings: bindings.map(toSummary), leftOut };
    },

    async getAgentTools(request, context) {
      requireCore(context);
      const { bindings } = catalogs.resolve(request.catalog, 'catalog');
      const { enabled } = await settings.current();
      return { tools: enabled ? agentTools(bindings) : [] };
    },

    async checkCode(request, context) {
      requireCore(context);
      const fields = new Fields();
      fields.text('code', request.code, 1, limits.codeBytesMax);
      fields.done();
      const catalog = catalogs.resolve(request.catalog, 'catalog');
      const diagnostics = await deps.checker.check(request.code, catalog, context.signal);
      return { diagnostics: diagnostics.map(({ line, column, message }) => ({ line, column, message })) };
    },
  };
}

const listFields = { session: 'session', pageSize: 'page_size', pageToken: 'page_token' };

function toSummary({ binding, summary }: SummarizedBinding) {
  return toBinding(binding, summary);
}
