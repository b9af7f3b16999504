/** The settings while none were ever stored: version 0, Code Mode off. */
import { settingRanges } from '../../shared/limits.ts';
import type { PlatformSettings } from './contract.ts';

export const initialSettings: PlatformSettings = {
  version: 0,
  enabled: false,
  timeoutMs: settingRanges.timeoutMs.initial,
  memoryMb: settingRanges.memoryMb.initial,
  outputBytes: settingRanges.outputBytes.initial,
};
