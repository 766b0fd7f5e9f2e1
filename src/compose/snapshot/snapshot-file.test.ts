import { Buffer } from 'node:buffer';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { packSnapshot, snapshotLimits, unpackSnapshot } from './snapshot-file.ts';
import { BusyCluster } from './testing/busy-cluster.ts';
import { snapshotOf } from './testing/snapshot-of.ts';

const snapshot = snapshotOf((await BusyCluster.at(1)).scheduling.harness.core);
const bytes = packSnapshot(snapshot);
/** Of a gzip file: its time, its level and the system that wrote it, which say nothing about its content. */
const meaningless = new Set([4, 5, 6, 7, 8, 9]);

const packed = (change: object): Uint8Array => packSnapshot({ ...snapshot, ...change });

describe('WI23: a snapshot that cannot be read', () => {
  it('has a byte that was changed', () => {
    const positions = [
      0,
      1,
      2,
      3,
      4,
      9,
      10,
      11,
      50,
      bytes.length >> 1,
      ...[8, 5, 4, 1].map((end) => bytes.length - end),
    ];
    for (const position of positions) {
      const changed = Uint8Array.from(bytes, (byte, i) => (i === position ? byte ^ 0x55 : byte));
      if (meaningless.has(position)) expect(unpackSnapshot(changed), `byte ${position}`).toEqual(snapshot);
      else expect(() => unpackSnapshot(changed), `byte ${position}`).toThrow(/^the (snapshot is damaged|file is not)/);
    }
  });

  it('is truncated, empty or no gzip file', () => {
    for (const length of [3, 20, bytes.length >> 1, bytes.length - 1])
      expect(() => unpackSnapshot(bytes.subarray(0, length))).toThrow(
        'the snapshot is damaged: the file ends too early',
      );
    expect(() => unpackSnapshot(new Uint8Array())).toThrow('the file is not compressed with gzip');
    expect(() => unpackSnapshot(Buffer.from('{}'))).toThrow('the file is not compressed with gzip');
  });

  it('was written by a newer Tutti', () => {
    expect(() => unpackSnapshot(packed({ format: 2, nodes: 'in a new form' }))).toThrow(
      'the snapshot was written by a newer Tutti (format 2; this one reads up to 1)',
    );
    expect(() => unpackSnapshot(packed({ apiVersion: 'explain.tutti.dev/v2' }))).toThrow(
      'was written by another Tutti',
    );
  });

  it('becomes too large when it is decompressed', () => {
    const bomb = gzipSync(Buffer.alloc(4 * 2 ** 20));
    expect(() => unpackSnapshot(bomb, { ...snapshotLimits, bytes: 2 ** 20 })).toThrow(
      'the snapshot is larger than 1 MiB when it is decompressed',
    );
    expect(() => unpackSnapshot(bytes, { ...snapshotLimits, compressedBytes: 100 })).toThrow('larger than 100 bytes');
  });

  it('is another file, or has a field of another type', () => {
    for (const text of [
      '',
      '[1',
      '"text"',
      'null',
      '{}',
      '{"kind":"Explanation","apiVersion":"explain.tutti.dev/v1alpha1"}',
    ])
      expect(() => unpackSnapshot(gzipSync(text)), text).toThrow(/is no JSON|is not a snapshot of Tutti/);
    const nodes = snapshot.nodes.map((node) => ({ ...node, unschedulable: 'no' }));
    expect(() => unpackSnapshot(packed({ nodes }))).toThrow(
      'the snapshot is damaged: /nodes/0/unschedulable must be boolean',
    );
  });

  it('has a number that is infinite, or a time that is none', () => {
    const text = JSON.stringify(snapshot).replace(/"cpu":\d+/, '"cpu":1e999');
    expect(() => unpackSnapshot(gzipSync(text))).toThrow('/nodes/0/allocatable/cpu must be number');
    const queue = snapshot.queue.map((entity) => ({ ...entity, since: 1e17 }));
    expect(() => unpackSnapshot(packed({ queue }))).toThrow('/queue/0 waits since a time that is none');
  });

  it('has a configuration that is too large or nested too deeply to be parsed', () => {
    const { configuration } = snapshot;
    const large = { ...configuration, added: 'x'.repeat(snapshotLimits.configurationBytes) };
    expect(() => unpackSnapshot(packed({ configuration: large }))).toThrow('its configuration is larger than 1 MiB');
    const nested = '['.repeat(100_000) + ']'.repeat(100_000);
    const text = JSON.stringify({ ...snapshot, configuration: 0 });
    const deep = text.replace('"configuration":0', `"configuration":{"added":${nested}}`);
    expect(() => unpackSnapshot(gzipSync(deep))).toThrow('its configuration is nested too deeply');
  });
});

it('reads what it has written, and fields that a later version of the same format adds', () => {
  expect(unpackSnapshot(bytes)).toEqual(snapshot);
  expect(unpackSnapshot(packed({ added: 1 }))).toMatchObject({ added: 1 });
});
