import { explainApiVersion } from '../../../api/explain/basis.ts';
import type { StatusChange, StatusItem } from '../../../api/explain/lists.ts';
import { groupKeyOf, parseGroupKey } from '../../../api/group-key.ts';
import { podGroupPath } from '../../../api/pod-group.ts';
import type { Clock, Timer } from '../../../base/clock.ts';
import { deferred } from '../../../base/deferred.ts';
import type { Deferred } from '../../../base/deferred.ts';
import type { Random } from '../../../base/random.ts';
import { ForbiddenError, NotFoundError } from '../../../client/api-errors.ts';
import type { KubeClient } from '../../../client/kube-client.ts';
import type { InformerHandler } from '../../../informer/informer-handler.ts';
import { NativePodGroupReflector } from '../../../informer/native-pod-group-reflector.ts';
import { Reflector } from '../../../informer/reflector.ts';
import type { ReflectorProblem } from '../../../informer/reflector-problem.ts';
import { silentLogger } from '../../../observability/silent-logger.ts';
import { groupItem, startingMs } from './group-item.ts';
import { isChosenGroup, isChosenPod } from './load-status.ts';
import type { StatusSelection } from './load-status.ts';
import { podItem } from './pod-item.ts';
import { absentStatusGroup, nativeStatusGroupOf, statusGroupOf } from './status-group.ts';
import type { StatusGroup } from './status-group.ts';
import { projectStatusPod } from './status-pod.ts';
import type { StatusPod } from './status-pod.ts';

export interface StatusWatchOptions {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'watch'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly selection: StatusSelection;
  /** What the user has seen already. */
  readonly items: readonly StatusItem[];
  readonly onChanges: (changes: readonly StatusChange[]) => void;
  /** A list or a watch fails for the second time in a row. It is tried again until it succeeds. */
  readonly onOutage: (problem: Extract<ReflectorProblem, { readonly kind: 'list' | 'watch' }>) => void;
  /** The user may list a kind, but not watch it, or no longer list it. */
  readonly onForbidden: (error: ForbiddenError) => void;
}

/** Changes that arrive within this time are reported together, and only the last state of each item. */
const settleMs = 100;

/** Follows the items of a status list from watches of pods and of the PodGroups of both APIs, and reports each change once. */
export class StatusWatch {
  readonly #options: StatusWatchOptions;
  readonly #groups: Reflector<StatusGroup>;
  readonly #nativeGroups: NativePodGroupReflector<StatusGroup>;
  readonly #pods: Reflector<StatusPod>;
  /** Pods that the selector matches. Members are shown with their group, whatever their labels. */
  readonly #selectedPods: Reflector<StatusPod>;
  readonly #reflectors: ReadonlySet<Pick<Reflector<unknown>, 'start' | 'synced' | 'stop'>>;
  /** Resolve if the user may not list the kind, or the API server does not serve it. */
  readonly #noPods = deferred();
  readonly #noGroups = deferred();
  /** key of a group, or of a pod without one -> the item as it was reported last */
  readonly #reported: Map<string, StatusItem>;
  /** Keys whose items have perhaps changed. */
  readonly #touched = new Set<string>();
  /** Handlers whose collection is being listed again: until it is complete, objects of different times are mixed. */
  readonly #relisting = new Set<object>();
  #timer: Timer | undefined;
  /** For groups that stop to count as starting because time passes. */
  #startingTimer: Timer | undefined;
  #isListed = false;

  constructor(options: StatusWatchOptions) {
    const { client, clock, random, selection, items } = options;
    const { namespace, selector: labelSelector, podsOf } = selection;
    const common = { client, clock, random };
    const selected = { ...common, ...(labelSelector !== undefined && { labelSelector }) };
    this.#options = options;
    this.#reported = new Map(items.map((item) => [keyOfItem(item), item]));
    for (const key of this.#reported.keys()) this.#touched.add(key);
    this.#groups = new Reflector<StatusGroup>({
      ...selected,
      path: podGroupPath(namespace),
      project: statusGroupOf,
      handler: this.#handler(({ key }) => key),
      onProblem: (problem) => this.#onProblem(problem, this.#groups, this.#noGroups),
    });
    this.#nativeGroups = new NativePodGroupReflector<StatusGroup>({
      ...selected,
      namespace,
      logger: silentLogger,
      project: nativeStatusGroupOf,
      handler: this.#handler(({ key }) => key),
    });
    const path = namespace === undefined ? '/api/v1/pods' : `/api/v1/namespaces/${namespace}/pods`;
    const ofPods = {
      path,
      project: projectStatusPod,
      onProblem: (problem: ReflectorProblem) => this.#onProblem(problem, this.#pods, this.#noPods),
    };
    this.#pods = new Reflector<StatusPod>({
      ...common,
      ...ofPods,
      handler: this.#handler(keyOfPod),
      indexers: { group: (pod) => groupKeysOf(pod) },
    });
    const selectsPods = labelSelector !== undefined && podsOf !== undefined;
    this.#selectedPods = selectsPods
      ? new Reflector<StatusPod>({ ...selected, ...ofPods, handler: this.#handler(keyOfPod) })
      : this.#pods;
    this.#reflectors = new Set([this.#groups, this.#nativeGroups, this.#pods, this.#selectedPods]);
  }

  start(): void {
    for (const reflector of this.#reflectors) reflector.start();
    const pods = [this.#pods, this.#selectedPods].map((each) => Promise.race([each.synced(), this.#noPods.promise]));
    const groups = Promise.race([this.#groups.synced(), this.#noGroups.promise]);
    Promise.all([...pods, groups, this.#nativeGroups.synced()]).then(
      () => {
        this.#isListed = true;
        this.#schedule();
      },
      () => undefined, // it was stopped before
    );
  }

  /** Resolves when the watches are closed. Nothing is reported after this call. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#startingTimer?.cancel();
    this.#isListed = false;
    await Promise.all([...this.#reflectors].map((reflector) => reflector.stop()));
  }

  #handler<T>(keyOf: (object: T) => string): InformerHandler<T> {
    const touch = (object: T): void => {
      this.#touched.add(keyOf(object));
      this.#schedule();
    };
    const handler: InformerHandler<T> = {
      onAdd: touch,
      onUpdate: (previous, object) => {
        touch(previous);
        touch(object);
      },
      onDelete: touch,
      onListing: () => void this.#relisting.add(handler),
      onReplaced: () => {
        this.#relisting.delete(handler);
        this.#schedule();
      },
    };
    return handler;
  }

  #onProblem(problem: ReflectorProblem, { hasSynced }: { readonly hasSynced: boolean }, missing: Deferred<void>): void {
    if (problem.kind !== 'list' && problem.kind !== 'watch') return;
    const { error, failures } = problem;
    const isForbidden = error instanceof ForbiddenError;
    if (hasSynced && isForbidden) this.#options.onForbidden(error);
    // loadStatus reports kinds that are missing.
    else if (!hasSynced && (isForbidden || error instanceof NotFoundError)) missing.resolve();
    else if (failures === 2) this.#options.onOutage(problem);
  }

  #schedule(): void {
    if (!this.#isListed || this.#relisting.size > 0 || this.#touched.size === 0) return;
    this.#timer ??= this.#options.clock.setTimer(settleMs, () => {
      this.#timer = undefined;
      this.#report();
    });
  }

  #report(): void {
    if (this.#relisting.size > 0) return; // its end schedules the next report
    const changes: StatusChange[] = [];
    for (const key of this.#touched) {
      const before = this.#reported.get(key);
      const item = this.#itemOf(key);
      if (item === undefined) this.#reported.delete(key);
      else this.#reported.set(key, item);
      const type = before === undefined ? 'Added' : item === undefined ? 'Deleted' : 'Modified';
      const shown = item ?? before;
      if (shown === undefined || JSON.stringify(before) === JSON.stringify(item)) continue;
      changes.push({ apiVersion: explainApiVersion, kind: 'StatusChange', type, item: shown });
    }
    this.#touched.clear();
    if (changes.length > 0) this.#options.onChanges(changes);
    const isStarting = [...this.#reported.values()].some(({ state }) => state === 'Starting');
    if (isStarting) this.#startingTimer ??= this.#options.clock.setTimer(startingMs, () => this.#recheckStarting());
  }

  #recheckStarting(): void {
    this.#startingTimer = undefined;
    for (const [key, { state }] of this.#reported) if (state === 'Starting') this.#touched.add(key);
    this.#schedule();
  }

  /** Returns undefined if there is nothing to show under this key. */
  #itemOf(key: string): StatusItem | undefined {
    const { selection, clock } = this.#options;
    if (key.startsWith(podPrefix)) {
      const pod = this.#selectedPods.store.get(key.slice(podPrefix.length));
      const isShown = pod !== undefined && groupKeysOf(pod).length === 0 && isChosenPod(selection, pod);
      return isShown ? podItem(pod) : undefined;
    }
    const members = this.#pods.hasSynced ? [...this.#pods.store.byIndex('group', key)] : undefined;
    const group = this.#groupOf(key, (members?.length ?? 0) > 0);
    if (group === undefined || !isChosenGroup(selection, group)) return undefined;
    return groupItem(group, members, clock.now());
  }

  #groupOf(key: string, hasMembers: boolean): StatusGroup | undefined {
    const { source, namespace, name } = parseGroupKey(key);
    const isNative = source === 'scheduling.k8s.io';
    const isListed = isNative ? this.#nativeGroups.version !== undefined : this.#groups.hasSynced;
    const found = (isNative ? this.#nativeGroups : this.#groups).store.get(`${namespace}/${name}`);
    if (found !== undefined || !isListed || !hasMembers) return found;
    // A group that does not exist has no labels.
    return this.#options.selection.selector === undefined ? absentStatusGroup(source, namespace, name) : undefined;
  }
}

/** No key of a group begins with it: the name of a namespace has no space. */
const podPrefix = 'pod ';

function groupKeysOf({ groupKey, nativeGroupKey }: StatusPod): readonly string[] {
  const key = groupKey ?? nativeGroupKey;
  return key === undefined ? [] : [key];
}

function keyOfPod(pod: StatusPod): string {
  return groupKeysOf(pod)[0] ?? `${podPrefix}${pod.namespace}/${pod.name}`;
}

function keyOfItem({ subject: { kind, source = 'scheduling.x-k8s.io', namespace, name } }: StatusItem): string {
  if (kind === 'Pod') return `${podPrefix}${namespace}/${name}`;
  return groupKeyOf(source, namespace, name);
}
