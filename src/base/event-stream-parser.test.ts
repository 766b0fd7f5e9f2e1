import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EventStreamParser } from './event-stream-parser.ts';

const stream =
  'event: snapshot\nid: e.1\ndata: {"a":1}\n\n: comment\n\ndata: one\ndata:two\n\nevent: empty\n\nevent:gap\r\ndata: ß\r\n\r\n';
const events = [
  { type: 'snapshot', data: '{"a":1}' },
  { type: 'message', data: 'one\ntwo' },
  { type: 'gap', data: 'ß' },
];

it('returns events with their type and data, and drops comments', () => {
  expect(new EventStreamParser().push(stream)).toEqual(events);
});

it('returns the same events wherever the stream is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(stream.length)), (cuts) => {
      const parser = new EventStreamParser();
      const places = [0, ...cuts.sort((a, b) => a - b), stream.length];
      const pieces = places.slice(1).map((end, index) => stream.slice(places[index], end));
      expect(pieces.flatMap((piece) => parser.push(piece))).toEqual(events);
    }),
  );
});

it('keeps an event back until it is complete', () => {
  const parser = new EventStreamParser();
  expect(parser.push('data: 1\n')).toEqual([]);
  expect(parser.push('\n')).toEqual([{ type: 'message', data: '1' }]);
});

it.each([
  ['a line', 'x'],
  ['an event', 'data: x\n'],
])('refuses %s without an end', (_what, piece) => {
  const parser = new EventStreamParser(100);
  const endless = (): void => {
    for (let i = 0; i < 101; i++) parser.push(piece);
  };
  expect(endless).toThrow('an event without an end');
});

it('reads any number of events that are not too long', () => {
  const parser = new EventStreamParser(100);
  for (let i = 0; i < 100; i++) expect(parser.push('data: xxxxxxxxxx\n\n')).toHaveLength(1);
});
