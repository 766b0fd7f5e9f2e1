export { checkStructural } from './check-structural.ts';
export { compileStructural } from './compile-structural.ts';
export type { StructuralValidator } from './compile-structural.ts';
export { decodeStrict } from './decode-strict.ts';
export type { StrictDecoding } from './decode-strict.ts';
export type { FieldError, FieldErrorReason } from './field-error.ts';
export { pruneAndDefault } from './prune-and-default.ts';
export type { PrunedValue } from './prune-and-default.ts';
