/** What of package.json is read here; the rest is passed on. */
export interface Manifest {
  readonly files: readonly string[];
  readonly peerDependencies?: Readonly<Record<string, string>>;
  /** entry -> condition -> file */
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

const sourcesCondition = 'tutti-sources';

/** Fields of the repository's package.json that mean nothing, or the wrong thing, where the package is installed. */
const ofTheRepository = [
  'private', // keeps the repository itself from being published
  'dependencies', // are in the bundle
  'devDependencies',
  'overrides',
  'allowScripts',
  'scripts',
];

/** The package.json that is published, made from the repository's. */
export function packedManifest(json: string): Manifest {
  const { exports, ...manifest } = JSON.parse(json) as Manifest;
  const fields = Object.entries({ ...manifest, exports: withoutSources(exports) });
  return Object.fromEntries(fields.filter(([field]) => !ofTheRepository.includes(field))) as unknown as Manifest;
}

/** The sources, which examples and tests take in place of what is built of them, are not in the package. */
function withoutSources(exports: Manifest['exports']): Manifest['exports'] {
  const published = (files: Manifest['exports'][string]): Manifest['exports'][string] =>
    typeof files === 'string'
      ? files
      : Object.fromEntries(Object.entries(files).filter(([condition]) => condition !== sourcesCondition));
  return Object.fromEntries(Object.entries(exports).map(([entry, files]) => [entry, published(files)]));
}
