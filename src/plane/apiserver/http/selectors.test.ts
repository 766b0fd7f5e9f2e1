import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../json.ts';
import { parseFieldSelector, parseLabelSelector } from './selectors.ts';

function labeled(labels: JsonObject): JsonObject {
  return { metadata: { name: 'a', labels } };
}

describe('a label selector', () => {
  it.each([
    ['tier=web', { tier: 'web' }, true],
    ['tier == web', { tier: 'web' }, true],
    ['tier!=web', {}, true],
    ['tier in (web,db), env notin (test)', { tier: 'db' }, true],
    ['tier in (web,db), env notin (test)', { tier: 'db', env: 'test' }, false],
    ['!tier', { tier: '' }, false],
    ['example.test/tier', { 'example.test/tier': '' }, true],
    ['tier=', { tier: '' }, true],
    ['toString', {}, false],
  ])('%s on %j is %s', (selector, labels, expected) => {
    expect(parseLabelSelector(selector)!(labeled(labels))).toBe(expected);
  });

  it('selects everything if empty', () => {
    expect(parseLabelSelector('')).toBeUndefined();
  });

  it.each(['a=b=c', 'a in b', 'a b', '=x', '-a', 'size>3'])('is rejected if it cannot be parsed: %s', (selector) => {
    expect(() => parseLabelSelector(selector)).toThrow('unable to parse requirement');
  });
});

describe('a field selector', () => {
  const fields = { 'status.phase': (object: JsonObject) => object.phase as string };

  it('matches objects and lists the fields that must be equal', () => {
    const selector = parseFieldSelector('status.phase!=Failed,status.phase==Running', fields)!;
    expect(selector.matches({ phase: 'Running' })).toBe(true);
    expect(selector.matches({ phase: 'Failed' })).toBe(false);
    expect([...selector.equals]).toEqual([['status.phase', 'Running']]);
  });

  it('is rejected for an unknown field or a syntax error', () => {
    expect(() => parseFieldSelector('spec.x=1', fields)).toThrow('field label not supported: spec.x');
    expect(() => parseFieldSelector('status.phase', fields)).toThrow('is not FIELD=VALUE');
  });
});
