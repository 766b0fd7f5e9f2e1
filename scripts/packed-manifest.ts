/** The fields of package.json that this module reads. It copies the others. */
export interface Manifest {
  readonly files: readonly string[];
  readonly peerDependencies?: Readonly<Record<string, string>>;
  /** entry -> condition -> file */
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

const sourcesCondition = 'tutti-sources';

/** Fields of the repository's package.json that are meaningless or wrong in the installed package. */
const repositoryFields = [
  'private', // prevents npm from publishing the repository itself
  'dependencies', // the bundle contains them
  'optionalDependencies', // Node.js: users bring their own
  'devDependencies',
  'overrides',
  'allowScripts',
  'scripts',
];

/** Returns the published package.json. */
export function packedManifest(json: string): Manifest {
  const { exports, ...manifest } = JSON.parse(json) as Manifest;
  const fields = Object.entries({ ...manifest, exports: withoutSources(exports) });
  return Object.fromEntries(fields.filter(([field]) => !repositoryFields.includes(field))) as unknown as Manifest;
}

/** Removes the export condition for the sources, which examples and tests use. The package does not contain the sources. */
function withoutSources(exports: Manifest['exports']): Manifest['exports'] {
  const published = (files: Manifest['exports'][string]): Manifest['exports'][string] =>
    typeof files === 'string'
      ? files
      : Object.fromEntries(Object.entries(files).filter(([condition]) => condition !== sourcesCondition));
  return Object.fromEntries(Object.entries(exports).map(([entry, files]) => [entry, published(files)]));
}
