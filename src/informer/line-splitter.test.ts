import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineSplitter } from './line-splitter.ts';

test('splits the same lines for any chunk borders', () => {
  const line = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((text) => !text.includes('\n'));
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat(200)), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((each) => `${each}\n`).join(''));
      const splitter = new LineSplitter();
      const seen: string[] = [];
      let start = 0;
      for (const cut of [...cuts.sort((a, b) => a - b), bytes.length]) {
        const end = Math.max(start, Math.min(cut, bytes.length));
        splitter.push(bytes.subarray(start, end), (each) => seen.push(each));
        start = end;
      }
      expect(seen).toEqual(lines.filter((each) => each !== ''));
      expect(splitter.pendingBytes).toBe(0);
    }),
  );
});

test('counts an incomplete line as pending', () => {
  const splitter = new LineSplitter();
  const seen: string[] = [];
  splitter.push(Buffer.from('one\ntwo'), (each) => seen.push(each));
  expect(seen).toEqual(['one']);
  expect(splitter.pendingBytes).toBe(3);
});

test('throws before an endless line fills the memory', () => {
  const splitter = new LineSplitter();
  const chunk = Buffer.alloc(8 * 1024 * 1024, 'x');
  const push = (): void => splitter.push(chunk, () => undefined);
  expect(() => {
    for (let n = 0; n < 5; n++) push();
  }).toThrow('a line is longer than 33554432 bytes');
});
