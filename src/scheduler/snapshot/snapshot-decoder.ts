import type { ListedObject } from '../../api/listed-object.ts';
import { noFeatures } from '../../api/node-features.ts';
import type { NodeFeature } from '../../api/node-features.ts';
import { noImages } from '../../api/node-images.ts';
import type { Node } from '../../api/node.ts';
import type { Pod, PodTemplate } from '../../api/pod.ts';
import { noVolumes } from '../../api/pod-volume.ts';
import { RecordInterner } from '../../api/record-interner.ts';
import { toResourceList } from '../../api/resource-list.ts';
import type { ResourceList } from '../../api/resource-list.ts';
import type { ResourceNames } from '../../api/resource-names.ts';
import type {
  SnapshotAmounts,
  SnapshotGroup,
  SnapshotNode,
  SnapshotPod,
  SnapshotTemplate,
} from '../../api/explain/snapshot.ts';
import type { GangSpec } from '../../cluster/gang-spec.ts';
import { noLimit } from './snapshot-encoder.ts';

/** A snapshot refers to something that it does not have. */
export class DanglingReferenceError extends Error {
  override readonly name = 'DanglingReferenceError';
}

/** Returns what the encoder has written as the cluster cache holds it. Equal templates and labels are one object again. */
export class SnapshotDecoder {
  readonly #names: ResourceNames;
  readonly #templates: readonly PodTemplate[];
  readonly #labels = new RecordInterner<Pod['labels']>();
  readonly #controllers = new RecordInterner<NonNullable<Pod['controller']>>();

  constructor(names: ResourceNames, templates: readonly SnapshotTemplate[]) {
    this.#names = names;
    this.#templates = templates.map((template) => this.#template(template));
  }

  node({ allocatable, declaredFeatures, images, ...rest }: SnapshotNode): Node {
    return {
      ...rest,
      allocatable: this.#amounts(allocatable),
      declaredFeatures: featuresOf(declaredFeatures),
      images: images.length === 0 ? noImages : images,
    };
  }

  /** Throws DanglingReferenceError. */
  pod(pod: SnapshotPod): Pod {
    const { assumedOn: _, template: index, ...rest } = pod;
    const template = this.#templates[index];
    if (template === undefined)
      throw new DanglingReferenceError(
        `the pod ${pod.namespace}/${pod.name} has the template ${index}, which is missing`,
      );
    return {
      ...rest,
      key: `${pod.namespace}/${pod.name}`,
      labels: this.#labels.intern(pod.labels),
      podGroupKey: pod.podGroupKey,
      otherGroupKey: pod.otherGroupKey,
      membershipDisagreement: pod.membershipDisagreement,
      podScheduled: pod.podScheduled,
      predictedStart: pod.predictedStart,
      plannedGroupUid: pod.plannedGroupUid,
      plannedQuorum: pod.plannedQuorum,
      invalidRuntime: pod.invalidRuntime,
      groupKeyOfOther: pod.groupKeyOfOther,
      controller: pod.controller && this.#controllers.intern(pod.controller),
      failedBecause: pod.failedBecause,
      disruptedBy: pod.disruptedBy,
      preemptionMark: pod.preemptionMark,
      volumes: pod.volumes.length === 0 ? noVolumes : pod.volumes,
      template,
    };
  }

  group({ minResources, memberPreemptionPolicy, ...rest }: SnapshotGroup): GangSpec {
    return {
      ...rest,
      minResources: minResources && this.#amounts(minResources),
      scheduleTimeoutSeconds: rest.scheduleTimeoutSeconds,
      startedSince: rest.startedSince,
      ...(memberPreemptionPolicy !== undefined && {
        memberPreemptionPolicy: memberPreemptionPolicy as NonNullable<GangSpec['memberPreemptionPolicy']>,
      }),
    };
  }

  object(object: ListedObject): ListedObject {
    if (object.kind !== 'CSINode') return object;
    const drivers = Object.entries(object.drivers).map(([driver, limit]) => [
      driver,
      limit === noLimit ? undefined : limit,
    ]);
    return { ...object, drivers: Object.fromEntries(drivers) as Readonly<Record<string, number | undefined>> };
  }

  #template({ requests, neededFeatures, ...rest }: SnapshotTemplate): PodTemplate {
    return {
      ...rest,
      requests: this.#amounts(requests),
      nodeSelector: rest.nodeSelector,
      nodeAffinity: rest.nodeAffinity,
      podAffinity: rest.podAffinity,
      controller: rest.controller,
      neededFeatures: featuresOf(neededFeatures),
    };
  }

  #amounts(amounts: SnapshotAmounts): ResourceList {
    return toResourceList(new Map(Object.entries(amounts)), this.#names);
  }
}

function featuresOf(names: readonly string[]): readonly NodeFeature[] {
  return names.length === 0 ? noFeatures : (names as readonly NodeFeature[]);
}
