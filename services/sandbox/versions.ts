/** What runs the programs. Another fingerprint does not forbid a replay; a mismatch names it as the likely cause. */
import { createRequire } from 'node:module';

export interface SandboxVersions {
  readonly product: string;
  readonly node: string;
  readonly v8: string;
  readonly icu: string;
  readonly isolatedVm: string;
  readonly realm: string;
  readonly fingerprint: string;
}

/** What else decides at which depth a recursion ends. */
export interface Making {
  readonly forked: boolean;
  readonly jit: boolean;
}

export function readVersions(realmHash: string, { forked, jit }: Making): SandboxVersions {
  const require = createRequire(import.meta.url);
  const product = packageVersion(require('../../package.json'));
  const isolatedVm = packageVersion(require('isolated-vm/package.json'));
  const { node, v8, icu } = process.versions;
  const realm = realmHash.slice(0, 16);
  const made = `${forked ? 'forked' : 'started'}${jit ? ', jit' : ''}`;
  const fingerprint = `v8 ${v8}, icu ${icu ?? 'none'}, isolated-vm ${isolatedVm}, realm ${realm}, ${process.arch}, ${made}`;
  return { product, node, v8, icu: icu ?? 'none', isolatedVm, realm, fingerprint };
}

function packageVersion(manifest: unknown): string {
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest)
    return String(manifest.version);
  throw new Error('a package without a version');
}
