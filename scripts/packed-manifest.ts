/** What of package.json is read here; the rest is passed on. */
export interface Manifest {
  readonly files: readonly string[];
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

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
  const fields = Object.entries(JSON.parse(json) as Manifest).filter(([field]) => !ofTheRepository.includes(field));
  return Object.fromEntries(fields) as unknown as Manifest;
}
