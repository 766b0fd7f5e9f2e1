import { simulationAnnotations } from '../../nodes/simulation-annotations.ts';

export interface JobManifestOptions {
  /** Run duration of each pod. Default: forever. */
  readonly runs?: string | undefined;
  readonly exitCode?: number | string | undefined;
  /** Labels of the pods. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Node of the pods. */
  readonly nodeName: string;
  /** Additional fields of the pod spec. */
  readonly pod?: object;
  /** Additional fields of `spec`. */
  readonly spec?: object | undefined;
}

/** A Job whose pods are bound to a node. */
export function jobManifest(name: string, options: JobManifestOptions): object {
  const { runs = 'never', exitCode = 0, labels, nodeName, pod, spec } = options;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    spec: {
      template: {
        metadata: {
          ...(labels !== undefined && { labels }),
          annotations: {
            [simulationAnnotations.runDuration]: runs,
            [simulationAnnotations.exitCode]: String(exitCode),
          },
        },
        spec: {
          restartPolicy: 'Never',
          nodeName,
          terminationGracePeriodSeconds: 0,
          containers: [{ name: 'main', image: 'registry.example/main:1' }],
          ...pod,
        },
      },
      ...spec,
    },
  };
}
