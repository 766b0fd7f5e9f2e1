import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { AbortListeners } from './abort-listeners.ts';

test('runs callbacks in order, through one listener, and skips deleted ones', () => {
  const listeners = new AbortListeners();
  const controller = new AbortController();
  const called: string[] = [];
  const first = (): void => void called.push('first');
  const second = (): void => void called.push('second');
  const third = (): void => void called.push('third');
  for (const callback of [first, second, third]) listeners.add(controller.signal, callback);
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
  listeners.delete(controller.signal, second);
  controller.abort();
  expect(called).toEqual(['first', 'third']);
  listeners.delete(controller.signal, first);
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
});

test('removes the listener with the last callback', () => {
  const listeners = new AbortListeners();
  const { signal } = new AbortController();
  const callback = (): void => undefined;
  listeners.add(signal, callback);
  listeners.delete(signal, callback);
  listeners.delete(signal, callback);
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  listeners.add(signal, callback);
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
});
