/** How the sandbox is, in the words of the protocol. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { GetStatusResponseSchema } from '../../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import type { PoolCounts } from '../pool/pool.ts';
import type { SandboxVersions } from '../versions.ts';

export function getStatus(
  counts: PoolCounts,
  versions: SandboxVersions,
): MessageInitShape<typeof GetStatusResponseSchema> {
  return { layers: [], locked: false, capacity: counts, versions };
}
