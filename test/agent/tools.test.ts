/** The definitions that a model gets. */
import { describe, expect, test } from 'vitest';
import { agentTools } from '../../services/code-run/agent/tools.ts';
import { limits } from '../../services/shared/limits.ts';
import { utf8Bytes } from '../../services/shared/text.ts';
import { binding, bindings } from './records.ts';

describe('agent tools', () => {
  test('are none where there is nothing to call', () => {
    expect(agentTools([])).toEqual([]);
  });

  test('are two, with schemas that take what the texts say', () => {
    const [api, run, ...others] = agentTools(bindings);
    expect([api?.name, run?.name, others]).toEqual(['openbot_code_api', 'openbot_run_code', []]);
    expect(JSON.parse(api?.inputSchemaJson ?? '')).toMatchObject({
      type: 'object',
      properties: { query: { type: 'string' }, connection: { type: 'string' }, binding: { type: 'string' } },
      additionalProperties: false,
    });
    expect(JSON.parse(run?.inputSchemaJson ?? '')).toMatchObject({
      type: 'object',
      properties: { code: { type: 'string' }, reason: { type: 'string' } },
      required: ['code', 'reason'],
    });
  });

  test('name the connections of the turn and use one of its bindings as the example', () => {
    for (const { description } of agentTools(bindings)) {
      expect(description).toContain('Connections: notes (1), mail (1).');
      expect(description).toContain('notes.read_note');
    }
  });

  test('stay small with a thousand connections', () => {
    const many = Array.from({ length: 1000 }, (_, index) => binding(`connection_${index}.tool`));
    for (const { description } of agentTools(many)) {
      expect(description).toMatch(/connection_0 \(1\), .*, and \d+ more\.$/m);
      expect(utf8Bytes(description)).toBeLessThan(limits.agentConnectionsBytesMax + 4096);
    }
  });
});
