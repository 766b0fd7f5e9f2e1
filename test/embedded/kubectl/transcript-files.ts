import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { readTranscript, writeTranscript } from './exchange.ts';
import type { Transcript } from './exchange.ts';
import { writePatterns } from './request-pattern.ts';

const folder = join(import.meta.dirname, '..', '..', 'fixtures', 'transcripts');
const sessionSuffix = '.session.jsonl';

/** Writes `NAME.session.jsonl`, every request in order with its body, and `NAME.requests.jsonl`, the kinds of requests in it. */
export function saveTranscript(name: string, transcript: Transcript): void {
  mkdirSync(folder, { recursive: true });
  // Replace the scheduler's identity, which contains the names of the machine and the process.
  const text = writeTranscript(transcript).replaceAll(`${hostname()}-${process.pid}`, 'host-1');
  writeFileSync(join(folder, `${name}${sessionSuffix}`), text);
  writeFileSync(join(folder, `${name}.requests.jsonl`), writePatterns(transcript.exchanges));
}

export function savedTranscripts(): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(sessionSuffix))
    .map((file) => file.slice(0, -sessionSuffix.length));
}

export function loadTranscript(name: string): Transcript {
  return readTranscript(readFileSync(join(folder, `${name}${sessionSuffix}`), 'utf8'));
}

/** Returns the lines of `NAME.requests.jsonl`. */
export function loadPatterns(name: string): string[] {
  return readFileSync(join(folder, `${name}.requests.jsonl`), 'utf8')
    .trimEnd()
    .split('\n');
}
