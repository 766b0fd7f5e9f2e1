import { explainApiVersion } from '../../../api/explain/basis.ts';
import type { PartError } from '../../../api/explain/basis.ts';
import type { Explanation } from '../../../api/explain/explanation.ts';
import type { SubjectName } from '../../../scheduler/explain/find-subject.ts';
import { UserError } from '../../../base/user-error.ts';
import type { ClusterState } from '../../../compose/cluster-state/load-cluster-state.ts';
import { openSnapshot } from '../../../compose/snapshot/open-snapshot.ts';
import type { ConnectionFlags, SchedulerLookupFlags } from '../../cluster-flags.ts';
import type { CommandContext } from '../../command-context.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { ColorMode } from '../../output/color.ts';
import { printNote } from '../../output/print.ts';
import { serialize } from '../../output/serialize.ts';
import { completeExplanation, withUnknowns } from '../complete-explanation.ts';
import { openClusterSource } from '../cluster-source.ts';
import type { ClusterSource } from '../cluster-source.ts';
import { askLeader } from '../leader/ask-leader.ts';
import type { LeaderFlags } from '../leader/leader-flags.ts';
import type { LeaderState } from '../leader/leader-state.ts';
import { UnknownAnswerError } from '../leader/unknown-answer-error.ts';
import { loadSnapshot } from '../snapshot/load-snapshot.ts';
import type { SnapshotFlag } from '../snapshot/snapshot-flag.ts';
import { loadStatus } from '../status/load-status.ts';
import type { SubjectArgument } from '../subject-argument.ts';
import { withCluster } from '../with-cluster.ts';
import type { OpenCluster } from '../with-cluster.ts';
import { printExplanation } from './print-explanation.ts';

/** The flags of `tutti why`. */
export interface WhyFlags extends ConnectionFlags, SchedulerLookupFlags, LeaderFlags, SnapshotFlag {
  /** Absent: the namespace of the context. */
  readonly namespace?: string;
  readonly source: 'auto' | 'scheduler' | 'api' | 'conditions';
  readonly output: 'text' | 'json' | 'yaml';
  readonly color: ColorMode;
}

/** There is no such group and no such pod. */
export class UnknownSubjectError extends UserError {
  override readonly name = 'UnknownSubjectError';

  constructor({ kind, name }: SubjectArgument, namespace: string) {
    const what = kind === undefined ? 'neither a pod group nor a pod' : kind === 'Pod' ? 'no pod' : 'no pod group';
    super(`there is ${what} named ${name} in the namespace ${namespace}; choose another one with --namespace`);
  }
}

/** What could not be listed may have the group or pod. */
export class HiddenSubjectError extends UserError {
  override readonly name = 'HiddenSubjectError';

  constructor({ name }: SubjectArgument, namespace: string, { message }: PartError) {
    super(`nothing named ${name} can be seen in the namespace ${namespace}: ${message}`);
  }
}

/** Explains why a pod group or a pod waits. Resolves to 0. */
export async function runWhy(argument: SubjectArgument, flags: WhyFlags, context: CommandContext): Promise<number> {
  const { snapshot } = flags;
  if (snapshot !== undefined) {
    const namespace = flags.namespace ?? 'default';
    const state = openSnapshot(await loadSnapshot(snapshot), context.clock);
    return print(await explainState(argument, namespace, state), argument, namespace, flags, context);
  }
  return withCluster(flags, context, async (cluster) => {
    const namespace = cluster.namespace!;
    const asked = await askLeader((leader) => askWhy(leader, argument, namespace), cluster, flags, context);
    const explanation = asked ?? (await explainFromApi(argument, namespace, cluster, flags, context));
    return print(explanation, argument, namespace, flags, context);
  });
}

function print(
  explanation: Explanation | undefined,
  argument: SubjectArgument,
  namespace: string,
  flags: WhyFlags,
  context: CommandContext,
): number {
  if (explanation === undefined) throw new UnknownSubjectError(argument, namespace);
  if (flags.output === 'text') printExplanation(explanation, flags, context);
  else context.stdout.write(serialize(explanation, flags.output));
  return exitCodes.ok;
}

async function askWhy(
  leader: LeaderState,
  { kind, source, name }: SubjectArgument,
  namespace: string,
): Promise<Explanation> {
  const query = new URLSearchParams({
    namespace,
    name,
    ...(kind !== undefined && { kind }),
    ...(source !== undefined && { source }),
  });
  const answer = (await leader.get(`/debug/explain?${query.toString()}`)) as Partial<Explanation> | null;
  if (answer?.kind !== 'Explanation' || answer.apiVersion !== explainApiVersion)
    throw new UnknownAnswerError('/debug/explain');
  return answer as Explanation;
}

async function explainFromApi(
  argument: SubjectArgument,
  namespace: string,
  cluster: OpenCluster,
  { source, schedulerName: schedulerNames, schedulerNamespace }: WhyFlags,
  context: CommandContext,
): Promise<Explanation | undefined> {
  const { clock, random, interruption } = context;
  const { signal } = interruption;
  const lookup = { namespace: schedulerNamespace, schedulerNames };
  const chosen = source === 'scheduler' ? 'api' : source;
  const found = await openClusterSource(chosen, { client: cluster.client, clock, random, signal, ...lookup });
  const explanation = await explain(argument, namespace, found, cluster, context);
  if (found.kind === 'conditions' && found.why !== undefined) printNote(found.why, context);
  return explanation;
}

async function explain(
  argument: SubjectArgument,
  namespace: string,
  found: ClusterSource,
  cluster: OpenCluster,
  context: CommandContext,
): Promise<Explanation | undefined> {
  if (found.kind === 'conditions') return explainByConditions(argument, cluster, context);
  return explainState(argument, namespace, found);
}

async function explainState(
  argument: SubjectArgument,
  namespace: string,
  { core, basis, errors }: ClusterState,
): Promise<Explanation | undefined> {
  try {
    core.begin();
    const name: SubjectName = { ...argument, namespace };
    const part = core.explainNow(name);
    if (part === undefined) return undefined;
    return completeExplanation(part, basis, errors);
  } finally {
    await core.stop();
  }
}

/** Returns what the conditions of the objects say. Nothing is planned. */
async function explainByConditions(
  argument: SubjectArgument,
  { client, namespace }: OpenCluster,
  { clock, interruption }: CommandContext,
): Promise<Explanation | undefined> {
  const kinds = argument.kind === undefined ? (['PodGroup', 'Pod'] as const) : [argument.kind];
  const subjects = kinds.map((kind) => ({ kind, name: argument.name }));
  const list = await loadStatus({ client, namespace, subjects, now: clock.now(), signal: interruption.signal });
  const [item] = kinds.flatMap((kind) => list.items.filter(({ subject }) => subject.kind === kind));
  const errors = list.errors.filter(({ message }) => message !== 'not found');
  if (item === undefined) {
    const [first] = errors;
    if (first === undefined) return undefined;
    throw new HiddenSubjectError(argument, namespace!, first);
  }
  const { subject, state, waitsFor, since, reason, message, bound, minMember, size } = item;
  return {
    apiVersion: explainApiVersion,
    kind: 'Explanation',
    basis: withUnknowns(list.basis, ['hiddenNodes', 'hiddenPods']),
    subject,
    state,
    ...(waitsFor !== undefined && { waitsFor }),
    ...(since !== undefined && { since }),
    ...(reason !== undefined && { verdict: { reason, message } }),
    ...(subject.kind === 'PodGroup' && { gang: { minMember, existing: size, gated: 0, bound, ended: 0 } }),
    shortages: [],
    whatHelps: [],
    errors,
  };
}
