import { stringify } from 'yaml';

export interface KrewRelease {
  /** As in package.json. */
  readonly version: string;
  /** Versions of Node.js on which it runs: `>=22.19`. */
  readonly node: string;
  /** Where krew downloads the tarball of the npm package. */
  readonly uri: string;
  /** Of the tarball, in hexadecimal digits. */
  readonly sha256: string;
}

const platforms = ['linux', 'darwin'].flatMap((os) => ['amd64', 'arm64'].map((arch) => ({ os, arch })));

/** Returns the manifest with which krew installs the plugin, as YAML. */
export function krewManifest({ version, node, uri, sha256 }: KrewRelease): string {
  return stringify(
    {
      apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
      kind: 'Plugin',
      metadata: { name: 'tutti' },
      spec: {
        version: `v${version}`,
        shortDescription: 'Show why pod groups wait for Tutti',
        description:
          'Shows the state of pod groups that Tutti, a gang scheduler, starts all together or not at all: why they wait, and in which order.\n',
        caveats: `The plugin needs Node.js ${node.replace('>=', '')} or later in PATH.\nKrew does not install completion: run "kubectl tutti completion --help".\n`,
        platforms: platforms.map(({ os, arch }) => ({
          selector: { matchLabels: { os, arch } },
          uri,
          sha256,
          files: [
            { from: 'package/dist', to: 'dist' },
            { from: 'package/package.json', to: '.' },
            { from: 'package/LICENSE', to: '.' },
          ],
          bin: 'dist/cli.js',
        })),
      },
    },
    { lineWidth: 0 },
  );
}
