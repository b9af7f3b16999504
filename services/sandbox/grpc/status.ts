/** How the sandbox is, in the words of the protocol. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type GetStatusResponseSchema,
  LockLayerState,
} from '../../../gen/openbot/codemode/v1/sandbox_service_pb.js';
import { type LayerReport, type LayerState, layers } from '../jail/layers.ts';
import type { PoolCounts } from '../pool/pool.ts';
import type { SandboxVersions } from '../versions.ts';

export function getStatus(
  reports: readonly LayerReport[],
  locked: boolean,
  counts: PoolCounts,
  versions: SandboxVersions,
): MessageInitShape<typeof GetStatusResponseSchema> {
  const statuses = reports.map(({ name, state, detail }) => ({
    name,
    state: states[state],
    required: layers[name].required,
    detail,
  }));
  return { layers: statuses, locked, capacity: counts, versions };
}

const states: Readonly<Record<LayerState, LockLayerState>> = {
  held: LockLayerState.HELD,
  absent: LockLayerState.ABSENT,
  off: LockLayerState.OFF,
};
