/** `code-mode api`: the text behind openbot_code_api. */
import { Apps } from '../mcp/apps.ts';
import type { ServerConfig } from '../mcp/config.ts';
import { connectApps } from './apps.ts';
import type { Service } from './service.ts';
import { printable, type Terminal } from './terminal.ts';

export interface DescribeOptions {
  readonly query: string;
  readonly connection: string;
  readonly binding: string;
}

export async function describe(
  service: Service,
  servers: readonly ServerConfig[],
  options: DescribeOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const apps = new Apps(servers);
  try {
    const catalog = await connectApps(apps, signal);
    const ref = { ref: { case: 'catalog' as const, value: catalog } };
    const { text } = await service.client.describeBindings({ catalog: ref, ...options }, { signal });
    terminal.result(printable(text));
  } finally {
    await apps.close();
  }
}
