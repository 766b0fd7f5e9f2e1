import type { JsonValue } from '../json.ts';

/** The keywords of a node of the schema of a CustomResourceDefinition (`openAPIV3Schema`) that pruning and defaulting read. */
export interface StructuralSchema {
  readonly nullable?: boolean;
  readonly default?: JsonValue;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: boolean | StructuralSchema;
  readonly items?: StructuralSchema;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
}
