import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { createLogger, describeError } from './logger.ts';
import type { LogFormat, LogLevel, Logger } from './logger.ts';

function capture(format: LogFormat, level: LogLevel = 'debug'): { logger: Logger; lines: string[] } {
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk: Uint8Array, _encoding, done): void {
      lines.push(chunk.toString());
      done();
    },
  });
  return { logger: createLogger({ level, format, destination }), lines };
}

it('writes one JSON object per line: time, level, the constant message and the fields', () => {
  const { logger, lines } = capture('json');
  logger.info('pod bound', { pod: 'ns/a', attempts: 2 });
  expect(lines).toHaveLength(1);
  expect(lines[0]!.endsWith('}\n')).toBe(true);
  const line = JSON.parse(lines[0]!) as Record<string, unknown>;
  expect(line).toMatchObject({ level: 'info', message: 'pod bound', pod: 'ns/a', attempts: 2 });
  expect(new Date(line.time as string).toISOString()).toBe(line.time);
});

it('quotes values in text lines only if necessary', () => {
  const { logger, lines } = capture('text');
  logger.warn('watch ended', { path: '/api/v1/pods', why: 'connection lost', again: 3 });
  expect(lines[0]).toMatch(/^\S+Z WARN {2}watch ended path=\/api\/v1\/pods why="connection lost" again=3\n$/);
});

it('lets a child logger add fields, and a line override them', () => {
  const { logger, lines } = capture('json');
  logger.child({ area: 'queue', key: 'a' }).child({ part: 1 }).error('failed', { key: 'b' });
  expect(JSON.parse(lines[0]!)).toMatchObject({ area: 'queue', part: 1, key: 'b' });
});

it('drops lines below its level', () => {
  const { logger, lines } = capture('json', 'warn');
  logger.debug('a');
  logger.info('b');
  logger.warn('c');
  logger.error('d');
  expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual(['c', 'd']);
});

it('logs an error with its cause, and never lets a field replace the message', () => {
  const { logger, lines } = capture('json');
  // These fields do not compile in TypeScript, but a JavaScript plugin may log them.
  const others = { message: 'x', level: 'y' } as object;
  logger.error('call failed', { error: new Error('outer', { cause: new TypeError('inner') }), ...others });
  const line = JSON.parse(lines[0]!) as { error: { message: string; cause: { name: string } } };
  expect(line).toMatchObject({ message: 'call failed', level: 'error' });
  expect(line.error).toMatchObject({ name: 'Error', message: 'outer', cause: { name: 'TypeError', message: 'inner' } });
});

it('survives a field that JSON cannot represent', () => {
  const { logger, lines } = capture('text');
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  logger.info('odd', { circle, big: 2n ** 70n });
  expect(lines[0]).toContain('circle="not loggable: TypeError');
  expect(lines[0]).toContain('big="1180591620717411303424"');
});

it('describes an error with its causes in one line', () => {
  expect(describeError(new Error('a', { cause: new RangeError('b', { cause: 'c' }) }))).toBe(
    'Error: a, caused by RangeError: b, caused by c',
  );
});

it('does not repeat the message of a cause', () => {
  const rejected = new Error('connect ECONNREFUSED 127.0.0.1:1');
  const dial = new Error(rejected.message, { cause: rejected });
  const call = new TypeError(`GET /a got no response: ${dial.message}`, { cause: dial });
  expect(describeError(call)).toBe('TypeError: GET /a got no response: connect ECONNREFUSED 127.0.0.1:1');
  const { logger, lines } = capture('json');
  logger.warn('list failed', { error: call });
  expect(lines[0]!.split('ECONNREFUSED')).toHaveLength(2);
});

it('describes an aggregate error by its first error', () => {
  const tries = new AggregateError([new Error('connect ECONNREFUSED ::1:1'), new Error('and another')]);
  expect(describeError(new Error('no response', { cause: tries }))).toBe(
    'Error: no response, caused by Error: connect ECONNREFUSED ::1:1',
  );
});

it('stops at a cycle of causes', () => {
  const ring = new Error('a');
  ring.cause = new Error('b', { cause: ring });
  expect(describeError(ring)).toBe('Error: a, caused by Error: b');
});

it.each(['text', 'json'] as const)('rounds times to whole milliseconds in %s', (format) => {
  const { logger, lines } = capture(format);
  logger.info('late', { delayMs: 845.4335571586041, ms: 0.6, share: 0.25 });
  expect(lines[0]).toMatch(/delayMs"?[=:]845\b.*\bms"?[=:]1\b.*share"?[=:]0\.25\b/);
  expect(lines[0]).not.toContain('845.');
});

it.each(['text', 'json'] as const)('shows no secrets and no control characters in %s, from any source', (format) => {
  const { logger, lines } = capture(format);
  const url = 'https://admin:canary@10.0.0.1:6443';
  logger.child({ server: url }).info(`reached\u001b[2J ${url}`, {
    version: 'v1\u001b]0;pwned\u0007\u009b31m\u2028',
    nested: { proxy: [url], text: 'Bearer canary-canary' },
    error: new Error(`no response from ${url}`, { cause: `Basic ${btoa('canary:canary')}` }),
  });
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toContain('canary');
  expect(lines[0]).not.toContain(btoa('canary:canary').replace(/=*$/, ''));
  expect(lines[0]!.slice(0, -1)).toMatch(/^[\u0020-\u007e]*$/);
  if (format === 'json') expect(JSON.parse(lines[0]!)).toMatchObject({ level: 'info', version: expect.any(String) });
});

it.each(['text', 'json'] as const)('shows no part of a secret that it cuts in %s', (format) => {
  const { logger, lines } = capture(format);
  for (let length = 4_060; length < 4_096; length++) {
    const text = `${'x'.repeat(length)} https://admin:canary@host`;
    logger.warn('long', { text, error: new Error(text) });
  }
  expect(lines.join('')).not.toMatch(/admin|cana/);
});

it.each(['text', 'json'] as const)('cuts long texts in %s, wherever they are', (format) => {
  const { logger, lines } = capture(format);
  const long = `${'eyJ-'.repeat(50_000)}end`;
  logger.warn('long', { long, nested: [{ long }], error: new Error(long, { cause: long }) });
  expect(lines[0]!.length).toBeLessThan(20_000);
  expect(lines[0]).toContain('…');
  expect(lines[0]).not.toContain('end');
});

it('does not take a line of the message for a frame of the stack', () => {
  const { logger, lines } = capture('json');
  logger.warn('failed', { error: new Error('no\n    at forged (/etc/passwd:1:1)') });
  const { error } = JSON.parse(lines[0]!) as { readonly error: { readonly stack: string } };
  expect(error.stack).not.toContain('forged');
  expect(error.stack).toContain('logger.test.ts');
});
