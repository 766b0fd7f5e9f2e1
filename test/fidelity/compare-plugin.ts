import * as fc from 'fast-check';
import { disagreementsOf } from './disagreement.ts';
import type { Disagreement } from './disagreement.ts';
import type { PluginComparison } from './plugin-comparison.ts';
import type { Answer, Question } from './question.ts';
import { tuttiAnswer } from './tutti-answer.ts';

/** A question whose answers differ without an allowed reason. */
export interface Mismatch {
  readonly question: Question;
  readonly disagreements: readonly Disagreement[];
}

export interface Tally {
  readonly plugin: string;
  /** Number of questions that both have answered. */
  comparisons: number;
  /** Number of questions with at least one rejected node, or a rejected pod. */
  rejections: number;
  /** Number of questions with different scores. */
  rankings: number;
  /** name of a deliberate difference -> number of questions with that difference */
  readonly differences: Map<string, number>;
  mismatches: number;
  /** The first few mismatches. */
  readonly examples: Mismatch[];
}

const maxExamples = 3;
/** Large enough to keep both sides busy, and small enough for the memory. */
const batchSize = 500;

export function emptyTally(plugin: string): Tally {
  return { plugin, comparisons: 0, rejections: 0, rankings: 0, differences: new Map(), mismatches: 0, examples: [] };
}

/** Compares the answers to one question and updates the tally. */
export function judge(comparison: PluginComparison, question: Question, kubeScheduler: Answer, tally: Tally): void {
  const answered = { question, tutti: tuttiAnswer(question), kubeScheduler };
  const disagreements = disagreementsOf(answered);
  const unexplained: Disagreement[] = [];
  const names = new Set<string>();
  for (const disagreement of disagreements) {
    const difference = comparison.differences?.find((each) => each.explains(disagreement, answered));
    if (difference === undefined) unexplained.push(disagreement);
    else names.add(difference.name);
  }
  tally.comparisons++;
  if (rejects(kubeScheduler)) tally.rejections++;
  if (new Set(Object.values(kubeScheduler.scores ?? {})).size > 1) tally.rankings++;
  for (const name of names) tally.differences.set(name, (tally.differences.get(name) ?? 0) + 1);
  if (unexplained.length === 0) return;
  tally.mismatches++;
  if (tally.examples.length < maxExamples) tally.examples.push({ question, disagreements: unexplained });
}

/** Asks `ask` and Tutti's plugin the same questions, `comparisons` in number; the seed determines the questions. */
export async function comparePlugin(
  comparison: PluginComparison,
  options: {
    readonly ask: (question: Question) => Promise<Answer>;
    readonly comparisons: number;
    readonly seed: number;
    readonly onProgress?: (tally: Tally) => void;
  },
): Promise<Tally> {
  const tally = emptyTally(comparison.plugin);
  for (let batch = 0; tally.comparisons < options.comparisons; batch++) {
    const numRuns = Math.min(batchSize, options.comparisons - tally.comparisons);
    const questions = fc.sample(comparison.questions, { numRuns, seed: options.seed + batch * 7919 });
    const answers = await Promise.all(questions.map((question) => options.ask(question)));
    for (const [index, question] of questions.entries()) judge(comparison, question, answers[index]!, tally);
    options.onProgress?.(tally);
  }
  return tally;
}

/** Returns the smallest similar question whose answers still differ; undefined when none is found. */
export async function shrunk(
  comparison: PluginComparison,
  options: { readonly ask: (question: Question) => Promise<Answer>; readonly seed: number; readonly runs: number },
): Promise<Mismatch | undefined> {
  let smallest: Mismatch | undefined;
  const agrees = fc.asyncProperty(comparison.questions, async (question) => {
    const tally = emptyTally(comparison.plugin);
    judge(comparison, question, await options.ask(question), tally);
    if (tally.mismatches > 0) smallest = tally.examples[0];
    return tally.mismatches === 0;
  });
  await fc.check(agrees, { seed: options.seed, numRuns: options.runs, interruptAfterTimeLimit: 30_000 });
  return smallest;
}

function rejects({ preEnqueue, preFilter, nodeNames, filter }: Answer): boolean {
  const isRejection = (code: string | undefined): boolean =>
    code !== undefined && code !== 'Success' && code !== 'Skip';
  const nodes = Object.keys(filter ?? {});
  return isRejection(preEnqueue?.code) || isRejection(preFilter?.code) || nodeNames !== undefined || nodes.length > 0;
}
