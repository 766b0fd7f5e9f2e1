import { InvalidArgumentError } from 'commander';
import { isNamespaceName, isObjectName } from '../api/object-name.ts';
import { isQualifiedName } from '../api/qualified-name.ts';
import { logLevels } from '../observability/logger.ts';
import type { LogLevel } from '../observability/logger.ts';
import { parseQuantity, quantityToMilli, QuantityError } from '../api/quantity.ts';

/**
 * Readers of flag values. Each throws InvalidArgumentError saying what would be right; commander adds the flag and the value.
 */

/** A whole number of at least `least`. */
export function wholeNumber(least: number, most = 1_000_000): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

/** A TCP port, or 0, which means what `zero` says: `for any free port`. */
export function port(zero: string): (text: string) => number {
  return (text) => {
    if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
    throw new InvalidArgumentError(`It must be a port number from 1 to 65535, or 0 ${zero}.`);
  };
}

/** Calls a second; 0 lifts the limit. */
export function rate(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number of calls a second such as 50, or 0 for no limit.');
}

/** A Kubernetes quantity greater than zero, as it was written. */
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

/** `name=quantity` of a resource that nodes have; the flag may be given again, for another one. */
export function nodeResource(
  text: string,
  previous: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  const cut = text.indexOf('=');
  const [name, amount] = [text.slice(0, cut), text.slice(cut + 1)];
  if (cut < 1) throw new InvalidArgumentError('It must be a resource and an amount of it, such as nvidia.com/gpu=8.');
  const own: Readonly<Record<string, string>> = { cpu: '--node-cpu', memory: '--node-memory', pods: '--node-pods' };
  if (Object.hasOwn(own, name)) throw new InvalidArgumentError(`${name} has a flag of its own: ${own[name]}.`);
  if (!isQualifiedName(name) || !(name.includes('/') || /^(ephemeral-storage|hugepages-.+)$/.test(name))) {
    throw new InvalidArgumentError(
      'The resource must be ephemeral-storage, hugepages-2Mi and the like, or have a domain before its name, such as nvidia.com/gpu.',
    );
  }
  if (previous !== undefined && Object.hasOwn(previous, name)) {
    throw new InvalidArgumentError(`${name} is given twice: each node has one amount of it.`);
  }
  const isWhole = !name.includes('/') || /^\d+$/.test(amount);
  if (!isWhole) throw new InvalidArgumentError(`The amount of ${name} must be a whole number, such as 8.`);
  return { ...previous, [name]: quantity('8 or 100Gi')(amount) };
}

/** From here on kube-scheduler tells what it does with each pod. */
const mostQuiet = 4;

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** A duration such as 90s or 1m30s, in milliseconds. */
export function duration(text: string): number {
  if (/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) {
    let total = 0;
    for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g))
      total += Number(amount) * unitMs[unit!]!;
    if (total > 0) return total;
  }
  throw new InvalidArgumentError('It must be a duration such as 90s, 1m30s or 2m.');
}

/** A flag that may stand alone, which means true; in the words that Go takes. */
export function truth(text: string): boolean {
  if (['true', 't', '1', 'TRUE', 'True', 'T'].includes(text)) return true;
  if (['false', 'f', '0', 'FALSE', 'False', 'F'].includes(text)) return false;
  throw new InvalidArgumentError('It must be true or false.');
}

/** The name of an object. */
export function objectName(text: string): string {
  if (isObjectName(text)) return text;
  throw new InvalidArgumentError('It must be a name as Kubernetes has them: lower-case letters, digits, "-" and ".".');
}

/** The name of a namespace. */
export function namespaceName(text: string): string {
  if (isNamespaceName(text)) return text;
  throw new InvalidArgumentError('It must be the name of a namespace: at most 63 lower-case letters, digits and "-".');
}

/** kube-scheduler's verbosity, a number, as the log level that shows as much; or the name of a level. */
export function verbosity(given: string): LogLevel {
  // kube-scheduler takes -v=4, of which commander leaves the sign.
  const text = given.replace(/^=/, '');
  const level = logLevels.find((name) => name === text);
  if (level !== undefined) return level;
  if (/^\d{1,2}$/.test(text)) return Number(text) < mostQuiet ? 'info' : 'debug';
  throw new InvalidArgumentError(`It must be a number as for kube-scheduler, or one of ${logLevels.join(', ')}.`);
}

/** The name of a scheduler, as pods give it in spec.schedulerName; the flag may be given again. */
export function schedulerName(text: string, previous: readonly string[] | undefined): readonly string[] {
  if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(text)) {
    throw new InvalidArgumentError(
      'It must be a name as in a pod\'s spec.schedulerName: lower-case letters, digits, "-" and ".".',
    );
  }
  return [...(previous ?? []), text];
}

/** A value that is not empty; the flag may be given again. */
export function oneMorePath(text: string, previous: readonly string[] | undefined): readonly string[] {
  if (text === '') throw new InvalidArgumentError('It must be the path of a file or a folder.');
  return [...(previous ?? []), text];
}
