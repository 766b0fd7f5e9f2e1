import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The fields of package-lock.json that this module reads. */
export interface Lockfile {
  /** folder, or '' for the repository -> package */
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly integrity?: string }>>;
}

const digest = /@sha256:[0-9a-f]{64}$/;
const integrity = /^sha512-[A-Za-z0-9+/]{86}==$/;

/** Commands that read only the build context and the packages of the lockfile, which npm compares with their hashes. */
const pinnedCommands = [
  /^npm ci --ignore-scripts( --no-(audit|fund))*$/,
  /^npm run package -- \/tmp$/,
  /^node scripts\/[\w-]+\.ts [\w ]+>\S+$/,
  /^cp node_modules\/\S+ \S+$/,
];

/** Instructions that add no bytes from elsewhere. */
const inertInstructions = ['WORKDIR', 'USER', 'EXPOSE', 'LABEL', 'ENV', 'ENTRYPOINT', 'CMD'];

/** Returns the instructions of a Dockerfile that may add bytes that no hash pins. */
export function unpinnedInDockerfile(dockerfile: string): readonly string[] {
  /** build argument -> default */
  const defaults = new Map<string, string>();
  const stages = new Set<string>();
  const resolved = (image: string): string =>
    image.replaceAll(/\$\{?(\w+)\}?/g, (_text, name: string) => defaults.get(name) ?? '');
  const isPinned = (image: string): boolean => stages.has(image) || image === 'scratch' || digest.test(image);
  // The build downloads and runs the program that this directive names.
  const problems: string[] = dockerfile.match(/^#\s*syntax\s*=.*$/gim) ?? [];
  for (const instruction of instructionsOf(dockerfile)) {
    const [keyword = '', ...words] = instruction.split(/\s+/);
    const rest = words.join(' ');
    switch (keyword) {
      case 'ARG': {
        const [name = '', value = ''] = rest.split('=');
        defaults.set(name, value);
        break;
      }
      case 'FROM': {
        const [image = '', , stage] = words.filter((word) => !word.startsWith('--'));
        if (!isPinned(resolved(image))) problems.push(instruction);
        if (stage !== undefined) stages.add(stage);
        break;
      }
      case 'COPY': {
        const from = /(?<=^| )--from=(\S*)/.exec(rest)?.[1];
        if (from !== undefined && !isPinned(resolved(from))) problems.push(instruction);
        break;
      }
      case 'RUN':
        for (const command of rest.split(' && ')) {
          if (!pinnedCommands.some((pattern) => pattern.test(command))) problems.push(`RUN ${command}`);
        }
        break;
      default:
        if (!inertInstructions.includes(keyword)) problems.push(instruction);
    }
  }
  return problems;
}

/** Returns the instructions without comments, each in one line. */
function instructionsOf(dockerfile: string): readonly string[] {
  return dockerfile
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
}

/** Returns the folders of packages whose hash is missing in the lockfile. */
export function unpinnedInLockfile({ packages }: Lockfile): readonly string[] {
  return Object.keys(packages).filter((folder) => folder !== '' && !integrity.test(packages[folder]?.integrity ?? ''));
}

/** Returns the folders of installed packages that the lockfile does not contain in that version, as paths below `root`. */
export function installedBesidesLockfile({ packages }: Lockfile, root: string): readonly string[] {
  return installedIn(root, 'node_modules').filter((folder) => {
    const { version } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as { version?: string };
    return packages[folder]?.version !== version;
  });
}

/** Returns the folders of the packages in a `node_modules` folder, and in those below it. */
function installedIn(root: string, modules: string): readonly string[] {
  const names = readdirSync(join(root, modules)).filter((name) => !name.startsWith('.'));
  const folders = names.flatMap((name) =>
    name.startsWith('@')
      ? readdirSync(join(root, modules, name)).map((inScope) => `${modules}/${name}/${inScope}`)
      : [`${modules}/${name}`],
  );
  return folders.flatMap((folder) => {
    const nested = `${folder}/node_modules`;
    return [folder, ...(existsSync(join(root, nested)) ? installedIn(root, nested) : [])];
  });
}
