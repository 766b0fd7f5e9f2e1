import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import type { ValidateFunction } from 'ajv';
import { expect } from 'vitest';
import { explainApiVersion } from '../../src/api/explain/basis.ts';
import type { TimelineMessage } from '../../src/api/timeline/timeline-message.ts';

const folder = fileURLToPath(new URL('../../schemas/', import.meta.url));
/** Path of a schema, below `schemas/` and without its ending -> compiled schema */
const compiled = new Map<string, ValidateFunction>();

/** Checks an answer of the explaining commands with the published schema of its kind. */
export function expectValidAnswer(answer: { readonly apiVersion: string; readonly kind: string }, what = ''): void {
  expectValid(answer, `${answer.apiVersion}/${answer.kind}`, `${answer.kind} ${what}`);
}

/** Checks a message of /debug/events with the published schema. */
export function expectValidTimelineMessage(message: TimelineMessage): void {
  expectValid(message, `${explainApiVersion}/TimelineMessage`, message.kind);
}

/** Checks a trace with its published schema. */
export function expectValidTrace(trace: unknown): void {
  expectValid(trace, `${explainApiVersion}/Trace`, 'Trace');
}

function expectValid(answer: unknown, path: string, what: string): void {
  let validate = compiled.get(path);
  if (validate === undefined) {
    const schema = JSON.parse(readFileSync(`${folder}${path}.json`, 'utf8')) as object;
    validate = new Ajv({ allErrors: true, strict: false }).compile(schema);
    compiled.set(path, validate);
  }
  expect(validate(answer) ? [] : validate.errors, what).toEqual([]);
}
