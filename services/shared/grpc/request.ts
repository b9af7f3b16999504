/** A request as it is measured and traced, whatever the transport. */
import { beginServerSpan, type ServerSpan } from '../telemetry.ts';
import type { CallContext, Edge } from './handlers.ts';

export function beginRequest(edge: Edge, call: Pick<CallContext, 'path' | 'header'>): ServerSpan {
  const ended = edge.observe(call.path);
  const span = beginServerSpan(call.path, (name) => call.header(name));
  return {
    run: span.run,
    end(code) {
      ended(code);
      span.end(code);
    },
  };
}
