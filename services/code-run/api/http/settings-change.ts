/** A change of the settings as the body of PATCH writes it. Every field that is wrong is named. */
import { z } from 'zod';
import { invalidField } from '../../../shared/errors.ts';
import { settingRanges } from '../../../shared/limits.ts';
import { expectedVersionRule, type FieldName, type SettingsChange } from '../settings.ts';
import { Fields } from '../validate.ts';
import { shownField } from './body.ts';

const whole = (name: keyof typeof settingRanges) => {
  const { min, max } = settingRanges[name];
  return z.int().min(min).max(max).optional();
};

// Ranges stand here as well as where settings are changed: a value out of range is named beside one of a wrong type.
const schema = z.strictObject({
  expectedVersion: z.int().min(0),
  codeMode: z
    .strictObject({
      enabled: z.boolean().optional(),
      timeoutMs: whole('timeoutMs'),
      memoryMb: whole('memoryMb'),
      outputBytes: whole('outputBytes'),
    })
    .refine((codeMode) => Object.keys(codeMode).length > 0),
});

export function changeOf(body: unknown): { expectedVersion: number; codeMode: SettingsChange } {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalidField('body', 'must be a JSON object');
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const fields = new Fields();
  const described = new Set<string>();
  for (const issue of parsed.error.issues) {
    const path = issue.path.join('.');
    if (issue.code === 'unrecognized_keys') {
      const prefix = path === '' ? '' : `${path}.`;
      for (const key of issue.keys) fields.wrong(shownField(prefix + key), 'is not a field');
    } else if (!described.has(path)) {
      described.add(path); // A number may break several rules of its one description.
      fields.wrong(path, descriptions[path] ?? 'is not as it should be');
    }
  }
  fields.done();
  throw parsed.error; // No issue without a field: not reached.
}

export const changeFieldName: FieldName = (name) => (name === 'expectedVersion' ? name : `codeMode.${name}`);

const descriptions: Readonly<Record<string, string>> = {
  expectedVersion: expectedVersionRule,
  codeMode: 'must be an object with at least one field to change',
  'codeMode.enabled': 'must be true or false',
  ...Object.fromEntries(
    Object.entries(settingRanges).map(([name, { min, max }]) => [
      `codeMode.${name}`,
      `must be a whole number from ${min} to ${max}`,
    ]),
  ),
};
