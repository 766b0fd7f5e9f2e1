import { UserError } from '../../base/user-error.ts';

/** The JSON of one object to apply; what is stated here has been checked. */
export interface ManifestObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    /** One of name and generateName is set. */
    readonly name?: string;
    readonly generateName?: string;
    readonly namespace?: string;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/** One object of a manifest file. */
export interface Manifest {
  readonly object: ManifestObject;
  /** `jobs.yaml, document 2`: for messages. */
  readonly where: string;
  /** The line in the file, from 1, of a field such as `spec.containers[0].name`, or of the nearest field around it. */
  readonly lineOf: (fieldPath: string) => number;
}

/** `Pod default/red-0`, without the namespace when the manifest states none. */
export function manifestTitle({ kind, metadata }: ManifestObject): string {
  const name = metadata.name ?? `${metadata.generateName}…`;
  return `${kind} ${metadata.namespace === undefined ? name : `${metadata.namespace}/${name}`}`;
}

/** Manifests cannot be applied. Each problem says the file, document, line and field, and what is wrong there. */
export class ManifestError extends UserError {
  override readonly name = 'ManifestError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(['the manifests cannot be applied:', ...problems].join('\n  '), options);
    this.problems = problems;
  }
}
