import { UserError } from '../../base/user-error.ts';

/** The JSON of one object to apply. The fields declared here are validated. */
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
  /** Returns the line in the file, from 1, of a field such as `spec.containers[0].name`, or of its closest parent that exists. */
  readonly lineOf: (fieldPath: string) => number;
}

/** Returns `Pod default/red-0`, or `Pod red-0` if the manifest sets no namespace. */
export function manifestTitle({ kind, metadata }: ManifestObject): string {
  const name = metadata.name ?? `${metadata.generateName}…`;
  return `${kind} ${metadata.namespace === undefined ? name : `${metadata.namespace}/${name}`}`;
}

/** Manifests cannot be applied. Each problem names the file, document, line and field, and the error. */
export class ManifestError extends UserError {
  override readonly name = 'ManifestError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(['cannot apply the manifests:', ...problems].join('\n  '), options);
    this.problems = problems;
  }
}
