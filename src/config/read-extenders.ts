import { isQualifiedName } from '../api/qualified-name.ts';
import { parseDuration } from '../base/parse-duration.ts';
import { shortText } from '../plugins/field-path.ts';
import type { FieldPath } from '../plugins/field-path.ts';
import type { ReportDiagnostic } from './configuration-document.ts';
import { fieldOf, filledTextOf, listOf, textOf, wholeNumberOf } from './raw-value.ts';
import type { ExtenderConfiguration, ExtenderTlsConfiguration } from './scheduler-configuration.ts';
import { tlsProblem } from './tls-problem.ts';

const defaultTimeoutMs = 5_000;

/** Reads the extenders with their defaults, by kube-scheduler's rules. */
export function readExtenders(value: unknown, report: ReportDiagnostic): readonly ExtenderConfiguration[] {
  /** resource name -> the field that manages it */
  const managed = new Map<string, string>();
  let binder: number | undefined;
  return listOf(value).map((extender, index) => {
    const path = ['extenders', index];
    const text = (name: string): string | undefined => filledTextOf(fieldOf(extender, name));
    const flag = (name: string): boolean => fieldOf(extender, name) === true;
    const verbs = textsOf(extender, ['filterVerb', 'prioritizeVerb', 'preemptVerb', 'bindVerb']);
    const weight = wholeNumberOf(fieldOf(extender, 'weight'));
    if (verbs.prioritizeVerb !== undefined && (weight ?? 0) < 1) {
      const found = weight === undefined ? 'is missing; it must be' : 'must be';
      report(
        [...path, 'weight'],
        `${found} a whole number of at least 1 if prioritizeVerb is set${weight === undefined ? '' : `, not ${weight}`}`,
      );
    }
    if (verbs.bindVerb !== undefined) {
      if (binder !== undefined)
        report(
          [...path, 'bindVerb'],
          `must be absent: only one extender may bind, and extenders[${binder}] already does`,
        );
      binder ??= index;
    }
    if (verbs.preemptVerb !== undefined) {
      report([...path, 'preemptVerb'], 'is not supported yet: remove it. Tutti does not call extenders for preemption');
    }
    const tls = tlsOf(fieldOf(extender, 'tlsConfig'));
    const wrongTls = tls === undefined ? undefined : tlsProblem(tls);
    if (wrongTls !== undefined) report([...path, 'tlsConfig'], wrongTls);
    const timeoutMs = parseDuration(textOf(fieldOf(extender, 'httpTimeout')) ?? '');
    return {
      urlPrefix: text('urlPrefix') ?? '',
      ...verbs,
      weight: weight ?? 0,
      enableHttps: flag('enableHTTPS'),
      ...(tls !== undefined && { tls }),
      httpTimeoutMs: timeoutMs === undefined || timeoutMs === 0 ? defaultTimeoutMs : timeoutMs,
      nodeCacheCapable: flag('nodeCacheCapable'),
      managedResources: listOf(fieldOf(extender, 'managedResources')).map((resource, position) => {
        const name = textOf(fieldOf(resource, 'name')) ?? '';
        checkResource(name, [...path, 'managedResources', position, 'name'], managed, report);
        return { name, ignoredByScheduler: fieldOf(resource, 'ignoredByScheduler') === true };
      }),
      ignorable: flag('ignorable'),
    };
  });
}

function checkResource(name: string, path: FieldPath, managed: Map<string, string>, report: ReportDiagnostic): void {
  // Quotas add the prefix `requests.`, and the result must be a valid name too.
  const isExtended =
    name.includes('/') &&
    !name.includes('kubernetes.io/') &&
    !name.startsWith('requests.') &&
    isQualifiedName(`requests.${name}`);
  const place = `extenders[${path[1]}].managedResources[${path[3]}]`;
  if (!isExtended) {
    report(path, `must be the name of an extended resource such as "example.com/gpu", not ${shortText(name)}`);
  } else if (managed.has(name)) {
    report(path, `must be unique: ${managed.get(name)} also has ${name}`);
  } else {
    managed.set(name, place);
  }
}

function tlsOf(value: unknown): ExtenderTlsConfiguration | undefined {
  if (value === undefined) return undefined;
  const texts = ['serverName', 'certFile', 'keyFile', 'caFile', 'certData', 'keyData', 'caData'] as const;
  return { insecure: fieldOf(value, 'insecure') === true, ...textsOf(value, texts) };
}

/** Returns the fields that are set and not empty. */
function textsOf<Name extends string>(value: unknown, names: readonly Name[]): Partial<Record<Name, string>> {
  const texts: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const text = filledTextOf(fieldOf(value, name));
    if (text !== undefined) texts[name] = text;
  }
  return texts;
}
