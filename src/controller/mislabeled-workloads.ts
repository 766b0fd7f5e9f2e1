import { labeledKinds, mislabeledWorkloadOf } from '../api/mislabeled-workload.ts';
import type { MislabeledWorkload } from '../api/mislabeled-workload.ts';
import { isObjectName } from '../api/object-name.ts';
import { podGroupLabel } from '../api/pod-group-membership.ts';
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import { ForbiddenError, GoneError, NotFoundError } from '../client/api-errors.ts';
import type { KubeClient } from '../client/kube-client.ts';
import { describeError } from '../observability/logger.ts';
import type { Logger } from '../observability/logger.ts';
import { WorkQueue } from './work-queue/work-queue.ts';
import type { WorkQueueMetrics } from './work-queue/work-queue-metrics.ts';

export interface MislabeledWorkloadsOptions {
  readonly client: Pick<KubeClient, 'list'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: WorkQueueMetrics;
  /** The workload that `of` returns for this group has changed. */
  readonly onChange: (groupKey: string) => void;
}

/** A group that lacks members. */
interface LackingGroup {
  readonly mislabeled: MislabeledWorkload | undefined;
  /** `changes` of the namespace before the latest look; -1 before the first. */
  readonly seen: number;
}

/** What one or more looks have read of the workloads with the label of these groups. */
interface Reading {
  readonly names: readonly string[];
  /** `changes` of the namespace at its start. */
  readonly changes: number;
  /** name of a group -> the first mislabeled workload, by kind and name */
  readonly found: Map<string, MislabeledWorkload>;
  /** Index in `labeledKinds` of the kind to read next; their number once all is read. */
  kind: number;
  /** The next page of that kind; undefined: the first one. */
  continueToken: string | undefined;
}

/** A namespace in which groups lack members, or did before its next look. */
interface Namespace {
  /** name -> the group; those of the latest look are last */
  readonly groups: Map<string, LackingGroup>;
  /** Number of times that pods came or went. */
  changes: number;
  /** Clock.monotonic() of the latest look; -Infinity before the first. */
  lookedAt: number;
  /** What the latest look has left for the next one. */
  unfinished: Reading | undefined;
}

/** How long a group may lack members before the first look. The members of most groups exist sooner. */
const patienceMs = 3_000;
/** Minimum time between two looks at one namespace. */
const intervalMs = 10_000;
/** Time until the look that checks whether a workload still exists and lacks the label. It may have no pods whose changes cause a look. */
const recheckMs = 60_000;
/** Maximum number of groups in one look, so that the request stays short. */
const groupsAtATime = 50;
/** Maximum number of workloads in one response. Each can have the size of the largest object that the API server accepts. */
const pageSize = 10;
/** Maximum number of pages that a look reads. The next look continues. */
const maxPages = 12;
/** Maximum length of a label value. A longer name of a group cannot be in a label. */
const maxLabelLength = 63;

/**
 * Finds workloads that have the label of a group that lacks members, but whose pod template lacks it: the commonest mistake. Lists workloads
 * instead of watching them. A look lists the workloads of one namespace that have a group's label. The first look happens once a group of
 * the namespace lacks members. Further looks happen while it does: when a pod with an owner but without a group is created or deleted there,
 * and every minute while a look has found a workload. Looks run one after the other, and at most one in 10 s per namespace. A look that
 * cannot read all workloads leaves the rest to the next one, until its continue token expires (five minutes by default). Without the
 * permission to list workloads, no look finds any.
 */
export class MislabeledWorkloads {
  readonly #options: MislabeledWorkloadsOptions;
  readonly #looks: WorkQueue;
  /** name -> the namespace, until a look finds no group that lacks members */
  readonly #namespaces = new Map<string, Namespace>();
  /** Kinds that this process may not list; logged once each. */
  readonly #forbidden = new Set<string>();

  constructor(options: MislabeledWorkloadsOptions) {
    this.#options = options;
    this.#looks = new WorkQueue({
      name: 'mislabeled-workloads',
      clock: options.clock,
      random: options.random,
      workers: 1,
      backoff: { initialMs: intervalMs, maxMs: 300_000 },
      process: (namespace, signal) => this.#look(namespace, signal),
      onRetry: ({ key, error, delayMs }) => {
        const fields = { namespace: key, delayMs, error: describeError(error) };
        options.logger.debug('cannot look for workloads with the label of a PodGroup', fields);
      },
      metrics: options.metrics,
    });
    this.#looks.start();
  }

  /** Returns a workload that was probably meant to create members of the group; undefined if none is known or the group has its members. */
  of(namespace: string, group: string): MislabeledWorkload | undefined {
    return this.#namespaces.get(namespace)?.groups.get(group)?.mislabeled;
  }

  /** Too few members of the group exist, or no longer. */
  lacksMembers(namespace: string, group: string, lacks: boolean): void {
    const known = this.#namespaces.get(namespace);
    if (!lacks) {
      if (known?.groups.delete(group) === true && known.groups.size === 0) this.#lookSoon(namespace, known);
      return;
    }
    if (known?.groups.has(group) === true) return;
    const lacking = known ?? this.#add(namespace);
    lacking.groups.set(group, { mislabeled: undefined, seen: -1 });
    this.#lookSoon(namespace, lacking);
  }

  /** A pod with an owner but without a group was created or deleted. */
  podChanged(namespace: string): void {
    const known = this.#namespaces.get(namespace);
    if (known === undefined) return;
    known.changes++;
    this.#lookSoon(namespace, known);
  }

  /** Resolves when no look is in flight. */
  stop(): Promise<void> {
    return this.#looks.stop();
  }

  #add(namespace: string): Namespace {
    const added: Namespace = { groups: new Map(), changes: 0, lookedAt: -Infinity, unfinished: undefined };
    this.#namespaces.set(namespace, added);
    return added;
  }

  #lookSoon(namespace: string, { lookedAt }: Namespace): void {
    this.#looks.add(namespace, Math.max(patienceMs, lookedAt + intervalMs - this.#options.clock.monotonic()));
  }

  async #look(namespace: string, signal: AbortSignal): Promise<void> {
    const looked = this.#namespaces.get(namespace);
    if (looked === undefined) return;
    const { groups, changes } = looked;
    if (groups.size === 0) {
      this.#namespaces.delete(namespace);
      return;
    }
    const reading = looked.unfinished ?? newReading(namesToLookFor(looked).slice(0, groupsAtATime), changes);
    if (reading.names.length === 0) return;
    looked.lookedAt = this.#options.clock.monotonic();
    looked.unfinished = undefined;
    await this.#read(namespace, reading, signal);
    const isFinished = reading.kind === labeledKinds.length;
    if (!isFinished) looked.unfinished = reading;
    for (const name of reading.names) {
      const before = groups.get(name);
      const mislabeled = reading.found.get(name);
      if (before === undefined || (mislabeled === undefined && !isFinished)) continue;
      groups.delete(name);
      groups.set(name, { mislabeled, seen: reading.changes });
      const isSame = before.mislabeled?.kind === mislabeled?.kind && before.mislabeled?.name === mislabeled?.name;
      if (!isSame) this.#options.onChange(`${namespace}/${name}`);
    }
    const next = namesToLookFor(looked);
    if (next.length === 0) return;
    const isUnseen = !isFinished || next.some((name) => groups.get(name)!.seen !== looked.changes);
    this.#looks.add(namespace, isUnseen ? intervalMs : recheckMs);
  }

  /** Continues to read, until all groups have a workload, all is read, or the look has read enough. */
  async #read(namespace: string, reading: Reading, signal: AbortSignal): Promise<void> {
    const { client, logger } = this.#options;
    const { names, found } = reading;
    const labelSelector = `${podGroupLabel} in (${names.join(',')})`;
    for (let page = 0; page < maxPages && reading.kind < labeledKinds.length; page++) {
      const { kind, apiPath, plural } = labeledKinds[reading.kind]!;
      const path = `${apiPath}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
      const from = reading.continueToken === undefined ? {} : { continueToken: reading.continueToken };
      try {
        const { items, continueToken } = await client.list(path, { labelSelector, limit: pageSize, ...from, signal });
        for (const item of items) {
          const mislabeled = mislabeledWorkloadOf(kind, item);
          if (mislabeled !== undefined && !found.has(mislabeled.group)) found.set(mislabeled.group, mislabeled);
        }
        reading.continueToken = continueToken;
      } catch (error) {
        reading.continueToken = undefined;
        // The rest of this kind stays unread. The reading ends, so that it is not repeated forever.
        if (!(error instanceof NotFoundError) && !(error instanceof GoneError)) {
          if (!(error instanceof ForbiddenError)) throw error;
          if (!this.#forbidden.has(plural)) {
            this.#forbidden.add(plural);
            const what = 'cannot list workloads: PodGroups without members do not name those that have their label';
            logger.info(what, { resource: plural, error: describeError(error) });
          }
        }
      }
      if (reading.continueToken === undefined) reading.kind++;
      if (names.every((name) => found.has(name))) reading.kind = labeledKinds.length;
    }
  }
}

function newReading(names: readonly string[], changes: number): Reading {
  return { names, changes, found: new Map(), kind: 0, continueToken: undefined };
}

/** Returns the groups that no look has covered since pods came or went, and those with a workload; those of the latest look last. */
function namesToLookFor({ groups, changes }: Namespace): readonly string[] {
  const names: string[] = [];
  for (const [name, { mislabeled, seen }] of groups) {
    const isLabelValue = name.length <= maxLabelLength && isObjectName(name);
    if ((seen !== changes || mislabeled !== undefined) && isLabelValue) names.push(name);
  }
  return names;
}
