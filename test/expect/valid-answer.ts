import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import type { ValidateFunction } from 'ajv';
import { expect } from 'vitest';

const folder = fileURLToPath(new URL('../../schemas/', import.meta.url));
/** apiVersion and kind -> compiled schema */
const compiled = new Map<string, ValidateFunction>();

/** Checks an answer of the explaining commands with the published schema of its kind. */
export function expectValidAnswer(answer: { readonly apiVersion: string; readonly kind: string }, what = ''): void {
  const path = `${answer.apiVersion}/${answer.kind}`;
  let validate = compiled.get(path);
  if (validate === undefined) {
    const schema = JSON.parse(readFileSync(`${folder}${path}.json`, 'utf8')) as object;
    validate = new Ajv({ allErrors: true, strict: false }).compile(schema);
    compiled.set(path, validate);
  }
  expect(validate(answer) ? [] : validate.errors, `${answer.kind} ${what}`).toEqual([]);
}
