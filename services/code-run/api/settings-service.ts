/** SettingsService: authorize → validate → change → convert. */
import { create } from '@bufbuild/protobuf';
import {
  type Settings as SettingsMessage,
  SettingsSchema,
  type SettingsService,
  type UpdateSettingsRequest,
} from '../../../gen/openbot/codemode/v1/settings_service_pb.js';
import { permissions, requirePermission } from '../../shared/auth/caller.ts';
import { invalidField } from '../../shared/errors.ts';
import type { ServiceHandlers } from '../../shared/grpc/handlers.ts';
import type { PlatformSettings } from '../store/contract.ts';
import type { Settings, SettingsChange } from './settings.ts';

export function settingsService(settings: Settings): ServiceHandlers<typeof SettingsService> {
  return {
    async getSettings(_request, context) {
      requirePermission(context.caller, permissions.administer);
      return { settings: toSettings(await settings.read()) };
    },

    async updateSettings(request, context) {
      requirePermission(context.caller, permissions.administer);
      const changed = await settings.update(Number(request.expectedVersion), changeOf(request), (name) =>
        name === 'expectedVersion' ? 'expected_version' : `code_mode.${maskPaths[name]}`,
      );
      return { settings: toSettings(changed) };
    },
  };
}

const maskPaths = {
  enabled: 'enabled',
  timeoutMs: 'timeout_ms',
  memoryMb: 'memory_mb',
  outputBytes: 'output_bytes',
} as const satisfies Record<keyof SettingsChange, string>;

function changeOf(request: UpdateSettingsRequest): SettingsChange {
  if (request.codeMode === undefined) throw invalidField('code_mode', 'must be set: the new values');
  const { enabled, timeoutMs, memoryMb, outputBytes } = request.codeMode;
  const paths = request.updateMask?.paths ?? [];
  const known = Object.values(maskPaths);
  for (const path of paths) {
    if (known.some((name) => name === path)) continue;
    throw invalidField('update_mask', `may name ${known.join(', ')}`);
  }
  const changes = (name: keyof SettingsChange) => paths.length === 0 || paths.includes(maskPaths[name]);
  return {
    ...(changes('enabled') ? { enabled } : {}),
    ...(changes('timeoutMs') ? { timeoutMs } : {}),
    ...(changes('memoryMb') ? { memoryMb } : {}),
    ...(changes('outputBytes') ? { outputBytes } : {}),
  };
}

function toSettings({ version, ...codeMode }: PlatformSettings): SettingsMessage {
  return create(SettingsSchema, { version: BigInt(version), codeMode });
}
