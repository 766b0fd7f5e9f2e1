import { PluginArguments } from '../plugin-arguments.ts';
import { utilizationShape } from '../utilization-shape.ts';
import type { ShapePoint } from '../utilization-shape.ts';

export interface VolumeBindingArguments {
  readonly bindTimeoutMs: number;
  /** The utilization of the points ascends; there is at least one point. */
  readonly shape: readonly ShapePoint[];
}

/** The lower the utilization of the volume, or of the storage capacity, the higher the score. */
const defaultShape: readonly ShapePoint[] = [
  { utilization: 0, score: 10 },
  { utilization: 100, score: 0 },
];

/** kube-scheduler's VolumeBindingArgs. */
export const volumeBindingArguments = new PluginArguments('VolumeBinding', {
  type: 'object',
  additionalProperties: false,
  properties: {
    bindTimeoutSeconds: { type: 'integer', minimum: 0, default: 600 },
    shape: { ...utilizationShape, default: defaultShape },
  },
});

/** Reads kube-scheduler's VolumeBindingArgs, with its defaults. Throws PluginArgumentsError. */
export function readVolumeBindingArguments(args: unknown): VolumeBindingArguments {
  const { bindTimeoutSeconds, shape } = volumeBindingArguments.read(args);
  return { bindTimeoutMs: bindTimeoutSeconds * 1000, shape };
}
