import { nativeGroup } from '../../src/api/native-pod-group.ts';
import type { NativeVersion } from '../../src/api/native-pod-group.ts';
import { neverPreempts } from './pod-manifest.ts';
import type { PodSpec } from './pod-manifest.ts';

/** A PodGroup of `scheduling.k8s.io`. */
export interface NativeGroupSpec {
  /** Absent: the policy is Basic. */
  readonly minCount?: number;
  /** Name of a PriorityClass. Default: low, as that of pods. */
  readonly priority?: PodSpec['priority'];
  /** Default: that of the server. */
  readonly disruptionMode?: 'single' | 'all';
  // The server drops fields whose feature gate is off.
  readonly topologyKey?: string;
  /** Names of ResourceClaims. */
  readonly resourceClaims?: readonly string[];
  /** Name of the CompositePodGroup. */
  readonly parent?: string;
}

const alphaModes = { single: 'Pod', all: 'PodGroup' } as const;

/** Returns a PodGroup to create. */
export function nativeGroupManifest(name: string, version: NativeVersion, spec: NativeGroupSpec): object {
  const { minCount, priority = 'low', disruptionMode: mode, topologyKey, resourceClaims, parent } = spec;
  return {
    apiVersion: `${nativeGroup}/${version}`,
    kind: 'PodGroup',
    metadata: { name },
    spec: {
      schedulingPolicy: minCount === undefined ? { basic: {} } : { gang: { minCount } },
      priorityClassName: priority,
      // The server's default contradicts the class.
      ...(priority === neverPreempts && { preemptionPolicy: 'Never' }),
      ...(mode !== undefined && { disruptionMode: version === 'v1alpha2' ? alphaModes[mode] : { [mode]: {} } }),
      ...(topologyKey !== undefined && { schedulingConstraints: { topology: [{ key: topologyKey }] } }),
      ...(resourceClaims !== undefined && {
        resourceClaims: resourceClaims.map((claim) => ({ name: claim, resourceClaimName: claim })),
      }),
      ...(parent !== undefined && {
        parentCompositePodGroupName: parent,
        workloadRef: { workloadName: parent, templateName: name },
      }),
    },
  };
}
