import type { JsonValue } from '../json.ts';

/** A node of a CRD's schema (`openAPIV3Schema`), with the keywords that pruning and defaulting read. */
export interface StructuralSchema {
  readonly nullable?: boolean;
  readonly default?: JsonValue;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: boolean | StructuralSchema;
  readonly items?: StructuralSchema;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
}
