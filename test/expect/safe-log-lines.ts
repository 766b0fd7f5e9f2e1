import { afterEach, expect } from 'vitest';
import { transports } from 'winston';

/**
 * For every test: no line of a log, whoever wrote it, has a secret or a character that a terminal acts upon. Tests that give a process secrets
 * have the word canary in them.
 */
const unsafe: readonly RegExp[] = [
  /canary/i,
  /\/\/[^\s/"[]*:[^\s/"]*@/,
  /\bBearer\s+[\w.~+/-]{16,}/,
  // eslint-disable-next-line no-control-regex -- to find them is the purpose
  /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/,
];
const message = Symbol.for('message');
const original = Symbol.for('tutti tests: what logs');
const bad: string[] = [];

type Log = (this: unknown, info: Readonly<Record<symbol, unknown>>, next: () => void) => unknown;
// Files that share a process run this anew each, and winston is loaded once.
const stream = transports.Stream.prototype as unknown as { log: Log; [original]?: Log };
const log = (stream[original] ??= stream.log);

stream.log = function (info, next) {
  const line = String(info[message]);
  if (unsafe.some((pattern) => pattern.test(line))) bad.push(line);
  return log.call(this, info, next);
};

afterEach(() => {
  expect(bad.splice(0), 'lines of a log that show what they must not').toEqual([]);
});
