import { afterEach, expect } from 'vitest';
import { transports } from 'winston';

/**
 * For every test: no log line contains a secret or a character that a terminal acts upon, whichever logger wrote it. Tests that give
 * secrets to a process put the word canary into them.
 */
const unsafe: readonly RegExp[] = [
  /canary/i,
  /\/\/[^\s/"[]*:[^\s/"]*@/,
  /\bBearer\s+[\w.~+/-]{16,}/,
  // eslint-disable-next-line no-control-regex -- the pattern must match control characters
  /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/,
];
const message = Symbol.for('message');
const original = Symbol.for('tutti tests: what logs');
const bad: string[] = [];

type Log = (this: unknown, info: Readonly<Record<symbol, unknown>>, next: () => void) => unknown;
// Each file of a shared process runs this again, but winston is loaded only once.
const stream = transports.Stream.prototype as unknown as { log: Log; [original]?: Log };
const log = (stream[original] ??= stream.log);

stream.log = function (info, next) {
  const line = String(info[message]);
  if (unsafe.some((pattern) => pattern.test(line))) bad.push(line);
  return log.call(this, info, next);
};

afterEach(() => {
  expect(bad.splice(0), 'log lines with a secret or a control character').toEqual([]);
});
