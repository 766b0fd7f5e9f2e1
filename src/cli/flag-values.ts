import { InvalidArgumentError } from 'commander';
import { isNamespaceName, isObjectName } from '../api/object-name.ts';
import { isQualifiedName } from '../api/qualified-name.ts';
import { logLevels } from '../observability/logger.ts';
import type { LogLevel } from '../observability/logger.ts';
import { parseQuantity, quantityToMilli, QuantityError } from '../api/quantity.ts';

/**
 * Parsers of flag values. Each throws InvalidArgumentError that states the expected value; commander adds the flag and the value.
 */

/** Returns a parser of whole numbers from `minimum` to `maximum`. */
export function wholeNumber(minimum: number, maximum = 1_000_000): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= minimum && number <= maximum) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}.`);
  };
}

/** Returns a parser of TCP ports. `zero` is the meaning of 0, such as `for any free port`. */
export function port(zero: string): (text: string) => number {
  return (text) => {
    if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
    throw new InvalidArgumentError(`It must be a port number from 1 to 65535, or 0 ${zero}.`);
  };
}

/** Parses a number of calls per second. 0 means no limit. */
export function rate(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number of calls per second, such as 50, or 0 for no limit.');
}

/** Returns a parser of Kubernetes quantities greater than zero. It returns the text unchanged. */
export function quantity(example: string): (text: string) => string {
  return (text) => {
    try {
      if (quantityToMilli(parseQuantity(text)) > 0) return text;
    } catch (error) {
      if (!(error instanceof QuantityError)) throw error;
    }
    throw new InvalidArgumentError(`It must be a Kubernetes quantity greater than zero, such as ${example}.`);
  };
}

/** Parses `name=quantity` of a node resource. The flag can be repeated for other resources. */
export function nodeResource(
  text: string,
  previous: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  const cut = text.indexOf('=');
  const [name, amount] = [text.slice(0, cut), text.slice(cut + 1)];
  if (cut < 1) throw new InvalidArgumentError('It must be a resource and its amount, such as nvidia.com/gpu=8.');
  const own: Readonly<Record<string, string>> = { cpu: '--node-cpu', memory: '--node-memory', pods: '--node-pods' };
  if (Object.hasOwn(own, name)) throw new InvalidArgumentError(`Use ${own[name]} for ${name}.`);
  if (!isQualifiedName(name) || !(name.includes('/') || /^(ephemeral-storage|hugepages-.+)$/.test(name))) {
    throw new InvalidArgumentError(
      'The resource must be ephemeral-storage, hugepages-<size> or a name with a domain prefix, such as nvidia.com/gpu.',
    );
  }
  if (previous !== undefined && Object.hasOwn(previous, name)) {
    throw new InvalidArgumentError(`${name} is set twice. Set each resource once.`);
  }
  const isWhole = !name.includes('/') || /^\d+$/.test(amount);
  if (!isWhole) throw new InvalidArgumentError(`The amount of ${name} must be a whole number, such as 8.`);
  return { ...previous, [name]: quantity('8 or 100Gi')(amount) };
}

/** The verbosity at which kube-scheduler starts to log each pod. */
const debugVerbosity = 4;

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Parses a duration such as 90s or 1m30s. Returns milliseconds. */
export function duration(text: string): number {
  if (/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) {
    let total = 0;
    for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g))
      total += Number(amount) * unitMs[unit!]!;
    if (total > 0) return total;
  }
  throw new InvalidArgumentError('It must be a duration such as 90s, 1m30s or 2m.');
}

/** Parses a boolean as Go does. */
export function truth(text: string): boolean {
  if (['true', 't', '1', 'TRUE', 'True', 'T'].includes(text)) return true;
  if (['false', 'f', '0', 'FALSE', 'False', 'F'].includes(text)) return false;
  throw new InvalidArgumentError('It must be true or false.');
}

/** Parses the name of an object. */
export function objectName(text: string): string {
  if (isObjectName(text)) return text;
  throw new InvalidArgumentError('It must be a Kubernetes name: lower-case letters, digits, "-" and ".".');
}

/** Parses the name of a namespace. */
export function namespaceName(text: string): string {
  if (isNamespaceName(text)) return text;
  throw new InvalidArgumentError('It must be a namespace name: at most 63 lower-case letters, digits and "-".');
}

/** Maps kube-scheduler's verbosity to the log level that shows as much. Also accepts the name of a level. */
export function verbosity(given: string): LogLevel {
  // kube-scheduler accepts -v=4. Commander leaves the equals sign in the value.
  const text = given.replace(/^=/, '');
  const level = logLevels.find((name) => name === text);
  if (level !== undefined) return level;
  if (/^\d{1,2}$/.test(text)) return Number(text) < debugVerbosity ? 'info' : 'debug';
  throw new InvalidArgumentError(`It must be a number as in kube-scheduler, or one of ${logLevels.join(', ')}.`);
}

/** Parses a scheduler name, as in a pod's spec.schedulerName. The flag can be repeated. */
export function schedulerName(text: string, previous: readonly string[] | undefined): readonly string[] {
  if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(text)) {
    throw new InvalidArgumentError('It must be a valid spec.schedulerName: lower-case letters, digits, "-" and ".".');
  }
  return [...(previous ?? []), text];
}

/** Parses a path that is not empty. The flag can be repeated. */
export function oneMorePath(text: string, previous: readonly string[] | undefined): readonly string[] {
  if (text === '') throw new InvalidArgumentError('It must be the path of a file or directory.');
  return [...(previous ?? []), text];
}
