import { compileLabelSelector, compileLabelSelectorAt, SelectorError } from '../../api/label-selector.ts';
import type { LabelPredicate, Labels, LabelSelector } from '../../api/label-selector.ts';
import type { Pod, PodTemplate, TopologySpreadConstraint } from '../../api/pod.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';
import type { SpreadDefaults } from './spread-args.ts';

/** How to spread the pods that a selector matches over the domains of a topology. */
export interface SpreadConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly minDomains: number;
  /** Count only nodes that match the pod's nodeSelector and required node affinity. */
  readonly honorsAffinity: boolean;
  /** Count only nodes whose taints the pod tolerates. */
  readonly honorsTaints: boolean;
  readonly selects: LabelPredicate;
  /** Equal texts select the same pods. */
  readonly selectorText: string;
  /** As in kube-scheduler, a selector that matches everything counts no pods. */
  readonly countsNone: boolean;
  /** The selector matches the pod itself. */
  readonly selectsItself: boolean;
}

/** All spread constraints of one pod. */
export interface Spreading {
  readonly hard: readonly SpreadConstraint[];
  readonly soft: readonly SpreadConstraint[];
  /** Ignore nodes that lack one of the topology labels. */
  readonly needsAllKeys: boolean;
  /** Equal texts mean equal constraints within a namespace. */
  readonly text: string;
}

export const noSpreading: Spreading = { hard: [], soft: [], needsAllKeys: true, text: '' };

interface Selection {
  readonly selects: LabelPredicate;
  readonly text: string;
  readonly countsNone: boolean;
}

/** Compiles a pod's own constraints. Throws SelectorError for invalid ones; its path begins below the pod's spec. */
export function ownSpreading({ template, labels }: Pick<Pod, 'template' | 'labels'>): Spreading {
  const selections = template.topologySpread.map((constraint, i) => ownSelection(constraint, labels, i));
  return spreadingOf(template.topologySpread, selections, labels, true);
}

/** Returns the default constraints for a pod without its own; none if no object selects the pod. */
export function defaultSpreading(
  { constraints, isSystem }: SpreadDefaults,
  pod: Pick<Pod, 'namespace' | 'labels' | 'template'>,
  listed: ClusterLister['listed'],
): Spreading {
  const selection = defaultSelection(pod, listed);
  if (selection === undefined) return noSpreading;
  return spreadingOf(
    constraints,
    constraints.map(() => selection),
    pod.labels,
    !isSystem,
  );
}

function spreadingOf(
  constraints: readonly TopologySpreadConstraint[],
  selections: readonly Selection[],
  labels: Labels,
  needsAllKeys: boolean,
): Spreading {
  const compiled = constraints.map(
    ({ maxSkew, topologyKey, minDomains, nodeAffinityPolicy, nodeTaintsPolicy }, i): SpreadConstraint => {
      const { selects, text, countsNone } = selections[i]!;
      return {
        maxSkew,
        topologyKey,
        minDomains: minDomains ?? 1,
        honorsAffinity: (nodeAffinityPolicy ?? 'Honor') === 'Honor',
        honorsTaints: nodeTaintsPolicy === 'Honor',
        selects,
        selectorText: text,
        countsNone,
        selectsItself: selects(labels),
      };
    },
  );
  const isHard = (_: unknown, i: number): boolean => constraints[i]!.whenUnsatisfiable === 'DoNotSchedule';
  const isSoft = (_: unknown, i: number): boolean => constraints[i]!.whenUnsatisfiable === 'ScheduleAnyway';
  const described = compiled.map(({ selects: _selects, ...rest }, i) => [rest, isHard(undefined, i)]);
  const text = JSON.stringify([needsAllKeys, described]);
  return { hard: compiled.filter(isHard), soft: compiled.filter(isSoft), needsAllKeys, text };
}

function ownSelection(
  { labelSelector, matchLabelKeys }: TopologySpreadConstraint,
  labels: Labels,
  position: number,
): Selection {
  const additional = Object.fromEntries(
    (matchLabelKeys ?? []).filter((key) => Object.hasOwn(labels, key)).map((key) => [key, labels[key]!]),
  );
  const selects = compileLabelSelectorAt(labelSelector, `topologySpreadConstraints[${position}].labelSelector`);
  // A nil selector matches no pods, with or without matchLabelKeys.
  if (labelSelector === undefined || labelSelector === null) return { selects, text: '', countsNone: false };
  const selectsAdditional = compileLabelSelector({ matchLabels: additional });
  return {
    selects: (candidate) => selects(candidate) && selectsAdditional(candidate),
    text: JSON.stringify([labelSelector, additional]),
    countsNone: isEmpty(labelSelector) && Object.keys(additional).length === 0,
  };
}

/**
 * Returns the combined selector of all Services that select the pod and of its ReplicationController, ReplicaSet or StatefulSet, if it has
 * one; undefined if there is none.
 */
function defaultSelection(
  { namespace, labels, template }: Pick<Pod, 'namespace' | 'labels' | 'template'>,
  listed: ClusterLister['listed'],
): Selection | undefined {
  const matchLabels: Record<string, string> = {};
  for (const { selector } of listed.in('Service', namespace)) {
    if (selector?.matchLabels !== undefined && hasAll(labels, selector.matchLabels)) {
      Object.assign(matchLabels, selector.matchLabels);
    }
  }
  const controller = controllerSelector(namespace, template, listed);
  if (template.controller?.kind === 'ReplicationController') Object.assign(matchLabels, controller?.matchLabels);
  const controllerOnly =
    template.controller?.kind === 'ReplicationController' || isEmpty(controller) ? undefined : controller;
  if (Object.keys(matchLabels).length === 0 && controllerOnly === undefined) return undefined;
  let alsoSelects: LabelPredicate = () => true;
  try {
    if (controllerOnly !== undefined) alsoSelects = compileLabelSelector(controllerOnly);
  } catch (error) {
    // As in kube-scheduler, ignore an invalid selector of the controller.
    if (!(error instanceof SelectorError)) throw error;
    if (Object.keys(matchLabels).length === 0) return undefined;
  }
  const sorted = Object.fromEntries(Object.entries(matchLabels).sort(([a], [b]) => (a < b ? -1 : 1)));
  return {
    selects: (candidate) => hasAll(candidate ?? {}, sorted) && alsoSelects(candidate),
    text: JSON.stringify([sorted, controllerOnly]),
    countsNone: false,
  };
}

function controllerSelector(
  namespace: string,
  { controller }: PodTemplate,
  listed: ClusterLister['listed'],
): LabelSelector | undefined {
  return controller === undefined ? undefined : listed.get(controller.kind, namespace, controller.name)?.selector;
}

function hasAll(labels: Labels, wanted: Labels): boolean {
  for (const key in wanted) if (!Object.hasOwn(labels, key) || labels[key] !== wanted[key]) return false;
  return true;
}

function isEmpty(selector: LabelSelector | undefined): boolean {
  return Object.keys(selector?.matchLabels ?? {}).length === 0 && (selector?.matchExpressions ?? []).length === 0;
}
