/**
 * The standard variables of OpenTelemetry (`OTEL_…`), which its libraries read from the environment by
 * themselves. Here they are let through from the file of settings, checked as far as a mistake would be silent,
 * and printed without their secrets.
 */
import { quoted } from './config-file.ts';
import { isMasked, maskUrl, maskWhole } from './mask.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where traces go: either of them turns tracing on. */
const endpoints = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];

export function isTelemetryName(name: string): boolean {
  return name.startsWith('OTEL_');
}

export function isTracing(environment: Environment): boolean {
  return endpoints.some((name) => (environment[name] ?? '') !== '');
}

export function telemetryProblems(environment: Environment): string[] {
  return namesIn(environment).flatMap((name) => {
    const text = environment[name] ?? '';
    if (isMasked(text)) return [`${name} must be the secret itself: *** only stands for one`];
    const isUrl = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
    return endpoints.includes(name) && !isUrl ? [`${name} must be an http or https URL`] : [];
  });
}

/** Lines for --print-config. Headers carry tokens. */
export function printTelemetry(environment: Environment): string[] {
  return namesIn(environment).map((name) => {
    const text = environment[name] ?? '';
    return `${name}=${quoted(name.endsWith('_HEADERS') ? maskWhole() : maskUrl(text))}`;
  });
}

function namesIn(environment: Environment): string[] {
  return Object.keys(environment)
    .filter((name) => isTelemetryName(name) && environment[name] !== '')
    .sort();
}
