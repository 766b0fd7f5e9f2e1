import { compileLabelSelector, compileLabelSelectorAt, SelectorError } from '../../api/label-selector.ts';
import type { LabelPredicate, Labels, LabelSelector } from '../../api/label-selector.ts';
import type { Pod, PodTemplate, TopologySpreadConstraint } from '../../api/pod.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';
import type { SpreadDefaults } from './spread-args.ts';

/** How the pods that a selector matches are to be spread over the domains of a topology. */
export interface SpreadConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly minDomains: number;
  /** Only nodes that the pod's nodeSelector and required node affinity let it go to are counted. */
  readonly honorsAffinity: boolean;
  /** Only nodes whose taints the pod tolerates are counted. */
  readonly honorsTaints: boolean;
  readonly selects: LabelPredicate;
  /** Equal ones select the same. */
  readonly selectorText: string;
  /** As in kube-scheduler a selector that selects everything counts nobody. */
  readonly countsNobody: boolean;
  /** The pod itself is one of those that are spread. */
  readonly selectsItself: boolean;
}

/** All that is asked for one pod. */
export interface Spreading {
  readonly hard: readonly SpreadConstraint[];
  readonly soft: readonly SpreadConstraint[];
  /** Nodes that lack one of the labels are left aside. */
  readonly needsAllKeys: boolean;
  /** Equal texts, the same constraints: for pods of one namespace. */
  readonly text: string;
}

export const noSpreading: Spreading = { hard: [], soft: [], needsAllKeys: true, text: '' };

interface Selection {
  readonly selects: LabelPredicate;
  readonly text: string;
  readonly countsNobody: boolean;
}

/** Throws SelectorError for constraints that cannot be understood; its path begins below the pod's spec. */
export function ownSpreading({ template, labels }: Pick<Pod, 'template' | 'labels'>): Spreading {
  const selections = template.topologySpread.map((constraint, i) => ownSelection(constraint, labels, i));
  return spreadingOf(template.topologySpread, selections, labels, true);
}

/** What the defaults come to for a pod without constraints: none where nothing selects it. */
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
      const { selects, text, countsNobody } = selections[i]!;
      return {
        maxSkew,
        topologyKey,
        minDomains: minDomains ?? 1,
        honorsAffinity: (nodeAffinityPolicy ?? 'Honor') === 'Honor',
        honorsTaints: nodeTaintsPolicy === 'Honor',
        selects,
        selectorText: text,
        countsNobody,
        selectsItself: selects(labels),
      };
    },
  );
  const isHard = (_: unknown, i: number): boolean => constraints[i]!.whenUnsatisfiable === 'DoNotSchedule';
  const isSoft = (_: unknown, i: number): boolean => constraints[i]!.whenUnsatisfiable === 'ScheduleAnyway';
  const reported = compiled.map(({ selects: _selects, ...rest }, i) => [rest, isHard(undefined, i)]);
  const text = JSON.stringify([needsAllKeys, reported]);
  return { hard: compiled.filter(isHard), soft: compiled.filter(isSoft), needsAllKeys, text };
}

function ownSelection(
  { labelSelector, matchLabelKeys }: TopologySpreadConstraint,
  labels: Labels,
  position: number,
): Selection {
  const more = Object.fromEntries(
    (matchLabelKeys ?? []).filter((key) => Object.hasOwn(labels, key)).map((key) => [key, labels[key]!]),
  );
  const selects = compileLabelSelectorAt(labelSelector, `topologySpreadConstraints[${position}].labelSelector`);
  // What matches nothing matches no less with more labels.
  if (labelSelector === undefined || labelSelector === null) return { selects, text: '', countsNobody: false };
  const selectsMore = compileLabelSelector({ matchLabels: more });
  return {
    selects: (candidate) => selects(candidate) && selectsMore(candidate),
    text: JSON.stringify([labelSelector, more]),
    countsNobody: isEmpty(labelSelector) && Object.keys(more).length === 0,
  };
}

/**
 * The labels of all Services that select the pod and, if it has one, what its ReplicationController, ReplicaSet or StatefulSet
 * selects; undefined when that is nothing.
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
  const besides = template.controller?.kind === 'ReplicationController' || isEmpty(controller) ? undefined : controller;
  if (Object.keys(matchLabels).length === 0 && besides === undefined) return undefined;
  let alsoSelects: LabelPredicate = () => true;
  try {
    if (besides !== undefined) alsoSelects = compileLabelSelector(besides);
  } catch (error) {
    // As in kube-scheduler, what a controller says that cannot be understood counts as nothing.
    if (!(error instanceof SelectorError)) throw error;
    if (Object.keys(matchLabels).length === 0) return undefined;
  }
  const sorted = Object.fromEntries(Object.entries(matchLabels).sort(([a], [b]) => (a < b ? -1 : 1)));
  return {
    selects: (candidate) => hasAll(candidate ?? {}, sorted) && alsoSelects(candidate),
    text: JSON.stringify([sorted, besides]),
    countsNobody: false,
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
