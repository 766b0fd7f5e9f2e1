import type { Answer, Question, AnswerStatus } from './question.ts';

/** One question and both answers. */
export interface Answered {
  readonly question: Question;
  readonly tutti: Answer;
  readonly kubeScheduler: Answer;
}

/** Where two answers to one question differ. */
export interface Disagreement {
  /** For example `Filter of node n1`. */
  readonly where: string;
  readonly tutti: string;
  readonly kubeScheduler: string;
}

/**
 * Returns where Tutti's answer differs from kube-scheduler's in effect: which pods and nodes are rejected, with which code and reasons, and
 * which nodes are preferred by how much. Differences without effect do not count:
 * - the order of several reasons: kube-scheduler's own order varies, and verdicts count each reason separately;
 * - whether a plugin accepts every node or skips the pod, or gives all nodes the same score or does not score them;
 * - pods with equal rank in the queue: kube-scheduler does not order them, Tutti does;
 * - scores where kube-scheduler panics.
 */
export function disagreementsOf({ question, tutti, kubeScheduler }: Answered): readonly Disagreement[] {
  const found: Disagreement[] = [];
  const compare = (where: string, ours: string, theirs: string): void => {
    if (ours !== theirs) found.push({ where, tutti: ours, kubeScheduler: theirs });
  };
  compare('the question', tutti.error ?? 'is valid', kubeScheduler.error ?? 'is valid');
  if (tutti.error !== undefined || kubeScheduler.error !== undefined) return found;
  compare('PreEnqueue', text(tutti.preEnqueue), text(kubeScheduler.preEnqueue));
  if (kubeScheduler.order !== undefined && kubeScheduler.order !== 0) {
    compare('QueueSort', orderText(tutti.order), orderText(kubeScheduler.order));
  }
  compare('PreFilter', text(tutti.preFilter), text(kubeScheduler.preFilter));
  if (found.length > 0 || isRejection(kubeScheduler.preFilter)) return found;
  for (const node of nodeNamesOf(question)) {
    compare(`Filter of node ${node}`, filterText(tutti, node), filterText(kubeScheduler, node));
  }
  if (found.length > 0) return found;
  compare('PreScore', text(tutti.preScore), text(kubeScheduler.preScore));
  if (hasPanicked(kubeScheduler.score)) return found;
  compare('Score', text(tutti.score), text(kubeScheduler.score));
  if (found.length > 0) return found;
  const [ours, theirs] = [tutti.scores ?? {}, kubeScheduler.scores ?? {}];
  if (tutti.scores === undefined && areAlike(theirs)) return found;
  if (kubeScheduler.scores === undefined && areAlike(ours)) return found;
  for (const node of nodeNamesOf(question)) {
    compare(`Score of node ${node}`, String(ours[node] ?? 'none'), String(theirs[node] ?? 'none'));
  }
  return found;
}

function nodeNamesOf({ nodes }: Question): readonly string[] {
  return nodes.map(({ metadata }) => (metadata as { readonly name: string }).name);
}

function isRejection(status: AnswerStatus | undefined): boolean {
  return status !== undefined && status.code !== 'Success' && status.code !== 'Skip';
}

function hasPanicked(status: AnswerStatus | undefined): boolean {
  return status?.reasons?.some((reason) => reason.startsWith('panic: ')) === true;
}

function text(status: AnswerStatus | undefined): string {
  if (status === undefined || !isRejection(status)) return 'pass';
  return `${status.code}: ${[...(status.reasons ?? [])].sort().join(', ')}`;
}

function filterText({ nodeNames, filter }: Answer, node: string): string {
  return nodeNames?.includes(node) === false ? 'not among the nodes of PreFilter' : text(filter?.[node]);
}

function orderText(order: number | undefined): string {
  return order === undefined ? 'no order' : order < 0 ? 'before' : order > 0 ? 'after' : 'equal';
}

function areAlike(scores: Readonly<Record<string, number>>): boolean {
  return new Set(Object.values(scores)).size <= 1;
}
