import { readFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Ajv } from 'ajv';
import { explainApiVersion } from '../../api/explain/basis.ts';
import { snapshotFormat } from '../../api/explain/snapshot.ts';
import type { Snapshot } from '../../api/explain/snapshot.ts';
import { messageOf } from '../../base/message-of.ts';
import { packageFile } from '../../base/package-files.ts';
import type { FieldSchema } from './known-fields.ts';
import { SnapshotError } from './snapshot-error.ts';

/**
 * Limits of a file. A cluster with 50,000 pods takes less than a tenth of them. `configurationBytes`: of the configuration, whose parser takes about
 * a kilobyte of memory for each of them; 64 profiles with all arguments take less than a quarter.
 */
export const snapshotLimits = {
  compressedBytes: 64 * 2 ** 20,
  bytes: 256 * 2 ** 20,
  configurationBytes: 2 ** 20,
} as const;

type Limits = Readonly<Record<keyof typeof snapshotLimits, number>>;

/** Returns the JSON Schema of snapshots. */
export function snapshotSchema(): FieldSchema {
  return JSON.parse(readFileSync(packageFile('schemas', explainApiVersion, 'Snapshot.json'), 'utf8')) as FieldSchema;
}

/** Returns the bytes of a file. */
export function packSnapshot(snapshot: Snapshot): Uint8Array {
  return gzipSync(`${JSON.stringify(snapshot)}\n`);
}

/** Reads the bytes of a file. Throws SnapshotError. `limits`: for tests. */
export function unpackSnapshot(bytes: Uint8Array, limits: Limits = snapshotLimits): Snapshot {
  if (bytes.length > limits.compressedBytes)
    throw new SnapshotError(`the snapshot is larger than ${inMebibytes(limits.compressedBytes)}`);
  const object = parsed(unzipped(bytes, limits.bytes));
  const { apiVersion, kind, format } = object;
  if (kind !== 'Snapshot' || typeof apiVersion !== 'string' || !apiVersion.startsWith('explain.tutti.dev/'))
    throw new SnapshotError('the file is not a snapshot of Tutti');
  if (typeof format === 'number' && format > snapshotFormat) {
    throw new SnapshotError(
      `the snapshot was written by a newer Tutti (format ${format}; this one reads up to ${snapshotFormat})`,
    );
  }
  if (apiVersion !== explainApiVersion)
    throw new SnapshotError(
      `the snapshot was written by another Tutti (${apiVersion}; this one reads ${explainApiVersion})`,
    );
  const problem =
    problemOf(object) ?? configurationProblem(object, limits) ?? timeProblem(object as unknown as Snapshot);
  if (problem !== undefined) throw new SnapshotError(`the snapshot is damaged: ${problem}`);
  return object as unknown as Snapshot;
}

function unzipped(bytes: Uint8Array, limit: number): string {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) throw new SnapshotError('the file is not compressed with gzip');
  try {
    return gunzipSync(bytes, { maxOutputLength: limit }).toString('utf8');
  } catch (error) {
    const { code } = error as { readonly code?: string };
    if (code === 'ERR_BUFFER_TOO_LARGE')
      throw new SnapshotError(`the snapshot is larger than ${inMebibytes(limit)} when it is decompressed`, {
        cause: error,
      });
    const what = code === 'Z_BUF_ERROR' ? 'the file ends too early' : messageOf(error);
    throw new SnapshotError(`the snapshot is damaged: ${what}`, { cause: error });
  }
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new SnapshotError(`the snapshot is damaged: it is no JSON`, { cause: error });
  }
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

/** Returns the first field that contradicts the schema, and how. */
function problemOf(object: object): string | undefined {
  const validate = new Ajv({ strict: false, strictNumbers: true }).compile(snapshotSchema());
  if (validate(object)) return undefined;
  const [first] = validate.errors ?? [];
  return `${first?.instancePath === '' ? 'it' : first?.instancePath} ${first?.message}`;
}

/** The schema leaves the configuration to its own parser. */
function configurationProblem(
  { configuration }: Readonly<Record<string, unknown>>,
  { configurationBytes: maxBytes }: Limits,
): string | undefined {
  try {
    const isTooLarge = JSON.stringify(configuration).length > maxBytes;
    return isTooLarge ? `its configuration is larger than ${inMebibytes(maxBytes)}` : undefined;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return 'its configuration is nested too deeply';
  }
}

/** A number of milliseconds need not be a time. */
function timeProblem({ queue }: Snapshot): string | undefined {
  const wrong = queue.findIndex(({ since, readySince = 0 }) => [since, readySince].some((time) => !isTime(time)));
  return wrong < 0 ? undefined : `/queue/${wrong} waits since a time that is none`;
}

function isTime(milliseconds: number): boolean {
  return !Number.isNaN(new Date(milliseconds).getTime());
}

function inMebibytes(bytes: number): string {
  return bytes >= 2 ** 20 ? `${bytes / 2 ** 20} MiB` : `${bytes} bytes`;
}
