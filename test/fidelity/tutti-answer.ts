import { listedKinds, projectListed } from '../../src/api/listed-object.ts';
import { NodeImages } from '../../src/api/node-images.ts';
import { projectNode } from '../../src/api/node.ts';
import { PodProjector } from '../../src/api/pod-projector.ts';
import type { Pod } from '../../src/api/pod.ts';
import { ResourceNames } from '../../src/api/resource-names.ts';
import { seededRandom } from '../../src/base/random.ts';
import { VirtualClock } from '../../src/base/virtual-clock.ts';
import { Cluster } from '../../src/cluster/cluster.ts';
import type { NodeInfo } from '../../src/cluster/node-info.ts';
import type { QueueKey } from '../../src/framework/scheduling-entity.ts';
import { CycleState } from '../../src/framework/cycle-state.ts';
import type { PluginHandle } from '../../src/framework/plugin-handle.ts';
import type { Plugin } from '../../src/framework/plugin.ts';
import { Profile } from '../../src/framework/profile.ts';
import { skip, Status } from '../../src/framework/status.ts';
import { WaitingPods } from '../../src/framework/waiting-pods.ts';
import { silentLogger } from '../../src/observability/silent-logger.ts';
import { pluginRegistry } from '../../src/plugins/registry.ts';
import type { Answer, Question, AnswerStatus } from './question.ts';

/** Returns the answer of Tutti's plugin of that name, run through a profile that enables only it. */
export function tuttiAnswer(question: Question): Answer {
  try {
    return answerTo(question);
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

function answerTo(question: Question): Answer {
  const resources = new ResourceNames();
  const pods = new PodProjector(resources, { images: true });
  const images = new NodeImages();
  const cluster = new Cluster(resources);
  for (const node of question.nodes) cluster.setNode(projectNode(node, resources, images));
  for (const pod of question.pods) cluster.setPod(pods.project(pod));
  for (const object of question.objects ?? []) {
    const kind = listedKinds.find((known) => known === object.kind);
    if (kind !== undefined) cluster.listed.set(projectListed(kind, object));
  }
  // A cycle only places pods that the cluster cache knows: plugins may rely on the terms of all pods, also of those that are not scheduled yet.
  const added = (question.added ?? []).map((raw) => pods.project(raw));
  for (const each of added) cluster.setPod({ ...each, nodeName: '' });
  const profile = profileOf(question, cluster);
  const plugin = profile.plugins.find(({ name }) => name === question.plugin)!;
  const pod = pods.project(question.pod);
  const answer: { -readonly [Field in keyof Answer]: Answer[Field] } = {};

  if (plugin.preEnqueue !== undefined) answer.preEnqueue = answerStatus(profile.preEnqueue({ kind: 'pod', pod }));
  if (plugin.compare !== undefined && question.rival !== undefined) {
    answer.order = profile.compare(queueKey(pod), queueKey(pods.project(question.rival)));
  }

  const state = new CycleState();
  const preFilter = profile.preFilter(state, pod);
  if (plugin.preFilter !== undefined) {
    answer.preFilter = answerStatus(preFilter.status ?? (state.skippedFilters.has(plugin.name) ? skip : undefined));
  }
  if (preFilter.status !== undefined) return answer;
  const { nodeNames } = preFilter;
  if (nodeNames !== undefined) answer.nodeNames = [...nodeNames].sort();
  for (const each of added) {
    cluster.setPod(each);
    rejectFailure(profile.preFilters.addPod(state, pod, each, cluster.node(each.nodeName)!));
  }
  for (const uid of question.removed ?? []) {
    const removed = cluster.pod(uid)!;
    cluster.removePod(uid);
    rejectFailure(profile.preFilters.removePod(state, pod, removed, cluster.node(removed.nodeName)!));
  }

  const left = cluster.nodes.filter(({ name }) => nodeNames?.has(name) !== false);
  const filters = [...profile.localFilters, ...profile.otherFilters];
  const rejected = new Map<string, AnswerStatus>();
  for (const node of left) {
    const status = profile.filter(filters, state, pod, node);
    if (status !== undefined) rejected.set(node.name, answerStatus(status));
  }
  if (plugin.filter !== undefined) answer.filter = Object.fromEntries(rejected);
  const fitting = left.filter(({ name }) => !rejected.has(name));
  const isFiltered = plugin.filterAll !== undefined && !state.skippedFilters.has(plugin.name);
  const isFailing = [...rejected.values()].some(({ code }) => code === 'Error');
  if (isFiltered && !isFailing) checkFilterAll(plugin, state, pod, { of: left, fitting });
  if (fitting.length === 0 || question.added !== undefined || question.removed !== undefined) return answer;

  const preScore = profile.scoring.preScore(state, pod, () => fitting);
  const isSkipped = state.skippedScores.has(plugin.name);
  if (plugin.preScore !== undefined) answer.preScore = answerStatus(preScore ?? (isSkipped ? skip : undefined));
  if (plugin.score !== undefined && preScore === undefined && !isSkipped) {
    answer.scores = scoresOf(profile, state, pod, fitting);
  }
  return answer;
}

/** Throws unless filterAll leaves the same nodes as filter for each node. */
function checkFilterAll(
  plugin: Plugin,
  state: CycleState,
  pod: Pod,
  { of, fitting }: { readonly of: readonly NodeInfo[]; readonly fitting: readonly NodeInfo[] },
): void {
  const indexes = indexesOf(of);
  const kept = indexes.slice(0, plugin.filterAll!(state, pod, indexes, indexes.length));
  if (kept.join() === indexesOf(fitting).join()) return;
  throw new Error(`filterAll leaves other nodes than filter, of nodes ${of.map(({ name }) => name).join()}`);
}

function indexesOf(nodes: readonly NodeInfo[]): Int32Array {
  return Int32Array.from(nodes, ({ index }) => index);
}

function profileOf({ plugin, args }: Question, cluster: Cluster): Profile {
  const clock = new VirtualClock();
  const handle: PluginHandle = {
    schedulerName: 'default-scheduler',
    Status,
    clock,
    random: seededRandom(1),
    logger: silentLogger,
    cluster,
    waitingPods: new WaitingPods(clock),
    activate: () => undefined,
    betweenAttempts: (change) => change(),
    binder: { bind: () => Promise.reject(new Error('this profile binds no pods')) },
    volumes: {
      bind: () => Promise.reject(new Error('this profile binds no volumes')),
      provision: () => Promise.reject(new Error('this profile provisions no volumes')),
    },
    dryRun: () => {
      throw new Error('this profile runs no dry run');
    },
  };
  // A profile needs a QueueSort and a Bind plugin.
  const others = ['PrioritySort', 'DefaultBinder'].filter((name) => name !== plugin).map((name) => ({ name }));
  return new Profile({
    schedulerName: 'default-scheduler',
    enabled: [{ name: plugin, args }, ...others],
    registry: pluginRegistry,
    handle,
  });
}

function scoresOf(profile: Profile, state: CycleState, pod: Pod, nodes: readonly NodeInfo[]): Record<string, number> {
  const [scorer] = profile.scorers;
  const scores = Float64Array.from(nodes, (node) => profile.scoring.score(scorer!, state, pod, node));
  const inBulk = new Float64Array(Math.max(...nodes.map(({ index }) => index)) + 1);
  scorer!.plugin.scoreAll?.(state, pod, indexesOf(nodes), nodes.length, inBulk);
  const differing = nodes.find(({ index }, i) => scorer!.plugin.scoreAll !== undefined && inBulk[index] !== scores[i]);
  if (differing !== undefined)
    throw new Error(`node ${differing.name} gets another score from scoreAll than from score`);
  scorer!.plugin.normalizeScore?.(state, pod, scores);
  return Object.fromEntries(nodes.map(({ name }, index) => [name, scores[index]!]));
}

function queueKey({ priority, creationTimestamp, uid }: Pod): QueueKey {
  return { priority, readySince: creationTimestamp, uid, incomplete: false };
}

function answerStatus(status: Status | undefined): AnswerStatus {
  if (status === undefined) return { code: 'Success' };
  return status.code === 'Skip' ? { code: 'Skip' } : { code: status.code, reasons: status.reasons };
}

function rejectFailure(status: Status | undefined): void {
  if (status !== undefined) throw new Error(status.message);
}
